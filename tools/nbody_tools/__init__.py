"""The tools behind ./nbody: packages, and one command line (nbody_tools.__main__).

  records/     result records, staircases of them, timelines of events, and the facts that documents
               quote
  measure/     running the step programs: for a table, under the profiler, for all of docs/results/
  inspection/  what a traced program did to memory, without a GPU
  files/       body files, snapshots, diagnostics and activity maps
  figures/     everything that is drawn
  documents/   everything that is generated from templates (documents/README.md)
  tour/        ./nbody tour: runs, pictures and the page
  physics/     long runs against known answers

records/ and measure/ need nothing but Python: they run on machines that have a GPU and little else.
"""
