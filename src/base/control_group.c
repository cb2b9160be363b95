#include "base/control_group.h"

#include <stdio.h>
#include <string.h>

#include "larmor/base.h"

/* What one walk needs to know. */
struct walk {
    const char *root, *controller;
    lm_control_group_visit *visit;
    void *context;
};

/* `group` is the path of a group in its hierarchy, from /proc/self/cgroup. */
static void visit_upwards(const struct walk *w, int version, const char *group)
{
    char name[LM_MAX_PATH], directory[LM_MAX_PATH];
    if (lm_path(name, "%s", strcmp(group, "/") ? group : ""))
        return;
    for (;;) {
        const int status = version == 1 ? lm_path(directory, "%s/sys/fs/cgroup/%s%s", w->root, w->controller, name)
                                        : lm_path(directory, "%s/sys/fs/cgroup%s", w->root, name);
        if (!status)
            w->visit(w->context, version, directory, name);
        char *slash = strrchr(name, '/');
        if (!slash)
            return;
        *slash = 0;
    }
}

static int is_among(char *list, const char *word)
{
    for (char *save, *c = strtok_r(list, ",", &save); c; c = strtok_r(NULL, ",", &save))
        if (!strcmp(c, word))
            return 1;
    return 0;
}

/* A line is "0::PATH" (version 2), or "9:memory:PATH" or "4:cpu,cpuacct:PATH" (version 1). */
static void visit_line(const struct walk *w, char *line)
{
    line[strcspn(line, "\n")] = 0;
    char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group)
        return;
    *controllers++ = 0;
    *group++ = 0;
    if (!strcmp(line, "0"))
        visit_upwards(w, 2, group);
    else if (is_among(controllers, w->controller))
        visit_upwards(w, 1, group);
}

void lm_control_groups(const char *root, const char *controller, lm_control_group_visit *visit, void *context)
{
    const struct walk w = {root, controller, visit, context};
    char path[LM_MAX_PATH], line[LM_MAX_PATH];
    FILE *f = lm_path(path, "%s/proc/self/cgroup", root) ? NULL : fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        visit_line(&w, line);
    if (f)
        fclose(f);
}
