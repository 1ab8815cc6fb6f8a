"""Run a measurement plan: commands in a planned order, for all versions and contexts.

The conditions of each run are recorded.

`plan_file` reads the plan, `schedule` lists its runs in order, `process` runs one command, `results` reads its
measurements, `machine` reads the state of the machine, `table` appends to the long table, `session` does all of this.
"""
