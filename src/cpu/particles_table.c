/* CPU backend: the table of operations on particles, compiled for each precision. */
#include "cpu/particles.h"

const struct lm_cpu_particles LM_P(lm_cpu_particles) = {.ops = {.load = LM_P(lm_cpu_load),
                                                                .reserve = LM_P(lm_cpu_reserve),
                                                                .put = LM_P(lm_cpu_put_particles),
                                                                .get = LM_P(lm_cpu_get_particles),
                                                                .sort = LM_P(lm_cpu_sort),
                                                                .reserve_more = LM_P(lm_cpu_reserve_more),
                                                                .exchange_heat = LM_P(lm_cpu_exchange_heat),
                                                                .follow = LM_P(lm_cpu_follow),
                                                                .pass = LM_P(lm_cpu_pass),
                                                                .enter = LM_P(lm_cpu_enter),
                                                                .ionise = LM_P(lm_cpu_ionise),
                                                                .maxima = LM_P(lm_cpu_particle_maxima),
                                                                .emigrate = LM_P(lm_cpu_emigrate),
                                                                .immigrate = LM_P(lm_cpu_immigrate),
                                                                .sums = LM_P(lm_cpu_particle_sums),
                                                                .moments = LM_P(lm_cpu_velocity_moments),
                                                                .distribution = LM_P(lm_cpu_distribution)},
                                                        .hash = LM_P(lm_cpu_hash_particles)};
