"""Execute a measurement plan: run commands in a planned order, for all versions and contexts, and record conditions.

`plan_file` reads the plan, and `plan` lists its runs in order. `process` runs one command, `results` reads the
measurements of the run, and `machine` reads the state of the machine. `table` appends the run to the long table.
`session` combines these modules.
"""
