// What a checkpoint says besides its bodies. A resumed run must be the run that was interrupted:
// the same program on the same kind of machine, with the same options.
#pragma once

#include "physics/activity_map.h"
#include "run/job.h"

namespace nbody {

inline constexpr const char* kMadeWith = "the checkpoint was made with ";  // says a refusal

// For a run from the start: fills job.start.checkpoint.
void begin_checkpoints(const Options& options, Job& job);
// For a resumed run: throws UsageError if it could not end with the bits of an uninterrupted one.
// With --resume-anyway, what only changes bits is noted in job.notes.
void require_resumable(const Options& options, Job& job);
// If --checkpoint exists, starts the run from it, so that the same command, given again, ends as if
// it had never been interrupted. Throws UsageError if it is not of the problem that job.start
// begins.
void continue_from_checkpoint(const Options& options, Job& job);
// The part of all three that has to wait until the platform is known.
void set_platform(const Options& options, const Platform& platform, Job& job);

// The half side of the activity map: as asked for, or the one that suits the start of the run.
float activity_map_extent(const Options& options, const Snapshot& start);
// An activity map that is added up over many steps is part of the checkpoint.
void save_activity_map(const ActivityMap& map, const Options& options, Snapshot& checkpoint);
ActivityMap saved_activity_map(const Options& options, const Job& job);

}  // namespace nbody
