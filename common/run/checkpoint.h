// The data of a checkpoint other than its bodies. A resumed run must match the interrupted one: the
// same program on the same kind of machine, with the same options.
#pragma once

#include "physics/activity_map.h"
#include "run/job.h"

namespace nbody {

inline constexpr const char* kMadeWith = "the checkpoint was made with ";  // used in error messages

// Fills job.start.checkpoint for a run from the start.
void begin_checkpoints(const Options& options, Job& job);
// Throws UsageError if a resumed run could not end with the same bits as an uninterrupted one. With
// --resume-anyway, differences that only change bits are recorded in job.notes.
void require_resumable(const Options& options, Job& job);
// If --checkpoint exists, starts the run from it, so that repeating a command ends as if it had
// never been interrupted. Throws UsageError if the checkpoint belongs to another problem than
// job.start.
void continue_from_checkpoint(const Options& options, Job& job);
// Completes any of the three functions above: makes the checks that need the platform.
void set_platform(const Options& options, const Platform& platform, Job& job);

// Returns the half side of the activity map: the requested value, or one that fits the initial
// state.
float activity_map_extent(const Options& options, const Snapshot& start);
// Adds to the checkpoint an activity map that sums the positions of many steps.
void save_activity_map(const ActivityMap& map, const Options& options, Snapshot& checkpoint);
ActivityMap saved_activity_map(const Options& options, const Job& job);

}  // namespace nbody
