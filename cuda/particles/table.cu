/* CUDA backend: the table of operations on particles, compiled for each precision. */
#include "particles/particles.cuh"

extern const struct lm_gpu_particles LM_P(lm_gpu_particles) = {{LM_P(lm_gpu_load),
                                                                LM_P(lm_gpu_reserve),
                                                                LM_P(lm_gpu_put_particles),
                                                                LM_P(lm_gpu_get_particles),
                                                                LM_P(lm_gpu_sort),
                                                                LM_P(lm_gpu_reserve_more),
                                                                LM_P(lm_gpu_exchange_heat),
                                                                LM_P(lm_gpu_follow),
                                                                LM_P(lm_gpu_pass),
                                                                LM_P(lm_gpu_enter),
                                                                LM_P(lm_gpu_ionise),
                                                                LM_P(lm_gpu_particle_maxima),
                                                                LM_P(lm_gpu_particle_sums),
                                                                LM_P(lm_gpu_velocity_moments),
                                                                LM_P(lm_gpu_distribution),
                                                                NULL,
                                                                NULL,
                                                                LM_P(lm_gpu_migrate),
                                                                LM_P(lm_gpu_depart),
                                                                LM_P(lm_gpu_arrive)},
                                                               LM_P(lm_gpu_hash_particles)};
