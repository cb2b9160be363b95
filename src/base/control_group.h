/* Control groups (cgroups, versions 1 and 2): limits that containers and batch systems set for the processes in them.
 */
#ifndef LARMOR_BASE_CONTROL_GROUP_H
#define LARMOR_BASE_CONTROL_GROUP_H

#ifdef __cplusplus
extern "C" {
#endif

/* Called for one group. `version` is 1 or 2. `directory` holds the files of the group, as a path below the root of the
 * file system. `group` is the name of the group: "/jobs/17", and "" for the topmost group. */
typedef void lm_control_group_visit(void *context, int version, const char *directory, const char *group);

/* Visits the groups of this process that have the controller ("memory", "cpu"), and all groups above them, because
 * every group limits the groups below it. The files are those below `root`/proc and `root`/sys; `root` is "", or a
 * folder of a test. Files of a group may be absent: a container often sees its own group only. */
void lm_control_groups(const char *root, const char *controller, lm_control_group_visit *visit, void *context);

#ifdef __cplusplus
}
#endif
#endif
