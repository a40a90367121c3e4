"""The tools behind ./nbody: packages, and one command line (nbody_tools.__main__).

  records/     reads result records and timelines, and finds the facts that documents quote
  measure/     runs the step programs: for a table, under the profiler, or for all of docs/results/
  inspection/  shows how a traced program accessed memory, without a GPU
  files/       reads body files, snapshots, diagnostics and activity maps
  figures/     draws all figures
  documents/   generates documents from templates (documents/README.md)
  tour/        runs ./nbody tour and writes its pictures and page
  physics/     compares long runs with known answers

records/ and measure/ need only Python, because a machine with a GPU may lack other packages.
"""
