"""Closed forms of reliability theory: what the simulator is checked against.

Nothing here imports the simulator, so that oracle and simulator share no code.  Every function
names the clock it holds for:

``operating``
    faults strike only while the job computes or saves; a stopped job does not fail;
``restart``
    faults also strike while the job restarts;
``calendar``
    faults strike always, also while the job waits.

All times are in one unit of the caller's choice (seconds in c4sim), all rates per that unit.
"""
