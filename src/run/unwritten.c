#include "run/unwritten.h"

#include <inttypes.h>
#include <stdio.h>

struct teller {
    int64_t steps; /* of the run */
    void (*tell)(void *user, const char *text);
    void *user;
};

/* `name` is the name of the section with its dot, or "". */
static void tell_beyond(const struct teller *t, const char *kind, const char *name, const char *key, int64_t value,
                        const char *what)
{
    char text[256];
    if (value <= t->steps)
        return;
    snprintf(text, sizeof text, "%s.%s%s = %" PRId64 " is beyond the end of the run at step %" PRId64 ": %s", kind,
             name, key, value, t->steps, what);
    t->tell(t->user, text);
}

static void tell_track(const struct teller *t, const struct lm_track_config *track, const char *name)
{
    char text[256];
    tell_beyond(t, "track", name, "start", track->start, "nothing is written");
    if (track->start > t->steps)
        return;
    if (track->start == 0)
        tell_beyond(t, "track", name, "every", track->every, "only step 0 is written");
    else if (t->steps / track->every * track->every < track->start) {
        snprintf(text, sizeof text,
                 "track.%severy = %" PRId64 " has no multiple from start = %" PRId64
                 " to the end of the run at step %" PRId64 ": nothing is written",
                 name, track->every, track->start, t->steps);
        t->tell(t->user, text);
    }
}

void lm_unwritten_each(const struct lm_config *c, void (*tell)(void *user, const char *text), void *user)
{
    static const char first[] = "only step 0 is written";
    const struct teller t = {c->run.steps, tell, user};
    char name[LM_MAX_NAME + 1];
    if (c->run.steps == 0)
        return;
    tell_beyond(&t, "output", "", "fields_every", c->output.fields_every, first);
    tell_beyond(&t, "output", "", "particles_every", c->output.particles_every, first);
    for (int k = 0; k < c->output_count; k++) {
        snprintf(name, sizeof name, "%s.", c->outputs[k].name);
        tell_beyond(&t, "output", name, "every", c->outputs[k].every,
                    c->outputs[k].average > 0 ? "nothing is written, as step 0 has no mean" : first);
    }
    for (int k = 0; k < c->distribution_count; k++) {
        snprintf(name, sizeof name, "%s.", c->distribution[k].name);
        tell_beyond(&t, "distribution", name, "every", c->distribution[k].every, first);
    }
    for (int k = 0; k < c->probe_count; k++) {
        snprintf(name, sizeof name, "%s.", c->probe[k].name);
        tell_beyond(&t, "probe", name, "every", c->probe[k].every, first);
    }
    for (int k = 0; k < c->track_count; k++) {
        snprintf(name, sizeof name, "%s.", c->track[k].name);
        tell_track(&t, &c->track[k], name);
    }
}
