"""The questions that ship with answers: each study is a function whose result has `as_document()`."""
