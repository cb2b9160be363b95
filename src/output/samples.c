#include "output/samples.h"

int lm_samples_make(struct lm_sim *sim, const struct lm_config *config, struct lm_samples *out)
{
    const int status = lm_probes_new(sim, config, &out->probes);
    return status ? status : lm_tracks_new(sim, config, &out->tracks);
}

void lm_samples_free(struct lm_samples *s)
{
    lm_probes_free(&s->probes);
    lm_tracks_free(&s->tracks);
}

int lm_samples_take(struct lm_samples *s)
{
    const int status = lm_probes_sample(s->probes);
    return status ? status : lm_tracks_sample(s->tracks);
}

int lm_samples_flush(struct lm_samples *s)
{
    const int status = lm_probes_flush(s->probes);
    return status ? status : lm_tracks_flush(s->tracks);
}

int lm_samples_check(struct lm_samples *s)
{
    const int status = lm_probes_check(s->probes);
    return status ? status : lm_tracks_check(s->tracks);
}

int lm_samples_go_on(struct lm_samples *s)
{
    const int status = lm_probes_go_on(s->probes);
    return status ? status : lm_tracks_go_on(s->tracks);
}
