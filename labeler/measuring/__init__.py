"""Run a measurement plan: commands in a planned order, over versions and contexts, with the conditions of each run.

`plan_file` reads the plan, `schedule` lists its runs in order, `process` runs one command, `results` reads its
measurements, `machine` reads the state of the machine, `table` appends to the long table, `session` does all of this.
"""
