// The data that a checkpoint stores in addition to its bodies, to check that a resumed run matches
// the interrupted run: the same program, on the same kind of machine, with the same options.
#pragma once

#include "physics/activity_map.h"
#include "run/job.h"

namespace nbody {

inline constexpr const char* kMadeWith = "the checkpoint was made with ";  // used in error messages

// Fills job.start.checkpoint for a run that does not continue another run.
void begin_checkpoints(const Options& options, Job& job);
// Throws UsageError if a resumed run could not end with the same bits as an uninterrupted one. With
// --resume-anyway, the reason is only recorded in job.notes; other options are still an error.
void require_resumable(const Options& options, Job& job);
// If the file of --checkpoint exists, continues from it, so that a repeated command gives the same
// result as an uninterrupted run. Throws UsageError if the checkpoint belongs to a problem other
// than job.start.
void continue_from_checkpoint(const Options& options, Job& job);
// Makes the checks that need the platform. Call this function after one of the three above.
void set_platform(const Options& options, const Platform& platform, Job& job);

// Returns the half side of the activity map: the requested value, or one that fits the initial
// state.
float activity_map_extent(const Options& options, const Snapshot& start);
// Stores in the checkpoint an activity map that counts the positions at many steps.
void save_activity_map(const ActivityMap& map, const Options& options, Snapshot& checkpoint);
ActivityMap saved_activity_map(const Options& options, const Job& job);

}  // namespace nbody
