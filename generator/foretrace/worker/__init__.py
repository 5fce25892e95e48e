"""The program that runs workloads: `python -m foretrace.worker`, the only room that imports torch.

It reads a `wire.Job` a line, gives each one a fresh process, and answers each with a `wire.Ended`; the rest of an
answer is in the job's folder. Nothing in the package imports it: `measure` reaches it through a process.
"""
