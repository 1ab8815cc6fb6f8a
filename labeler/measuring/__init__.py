"""Running a measurement plan: commands in a drawn order, over versions and contexts, each run with its conditions.

`plan_file` reads the plan, `schedule` lists its runs in order, `process` runs one command, `results` reads what it
gave, `machine` notes the state of the machine, `table` appends to the long table, `session` does one after the other.
"""
