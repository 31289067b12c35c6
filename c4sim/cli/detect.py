"""`c4sim detect`: who is slow, who hangs, who is only a victim."""

from c4sim.cli import readers
from c4sim.cli.words import Grammar, read

HELP = """\
usage: c4sim detect FILE... [OPTION=VALUE...]

Name the workers, hosts or edges at fault in the telemetry of a job: an .npz or Parquet file of telemetry, a CSV of step
times per rank, a trace in Parquet, or the PyTorch Flight Recorder dumps of all ranks (files, or their folder).

  c4sim detect telemetry.npz
  c4sim detect dumps/ format=json

exit codes: 0 nobody accused, 1 somebody accused, 2 bad input

options
  false_alarms=X        tolerated per job and 30 days (0.1)
  step_time=DURATION    time between rows where the files do not say
  figure=FILE           write a heat map of the workers, with the delay matrix where edges were measured
  format=text|json      json: one document on stdout
"""


def _grammar() -> Grammar:
    options = {
        "format": readers.text_format,
        "false_alarms": readers.positive,
        "step_time": readers.duration,
        "figure": readers.file,
    }
    return Grammar(options=options, overrides=False, positional="a file")


def run(words: list[str]) -> int:
    """Run the verb."""
    said = read(words, _grammar())
    if not said.positional:
        said.wrong("FILE", "give at least one file of telemetry")
    said.check()
    from c4sim.report.detector_figure import draw
    from c4sim.studies.detect import detect_command

    return detect_command(
        said.positional,
        json_output=said.options.get("format") == "json",
        figure=said.options.get("figure"),
        draw=draw,
        false_alarms=said.options.get("false_alarms", 0.1),
        step_time_s=said.options.get("step_time"),
    )
