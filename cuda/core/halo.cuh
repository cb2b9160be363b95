/* CUDA backend: the halo of the arrays of a rank (src/ranks/halo.h), in the memory of the GPU (cuda/halo). All
 * functions are collective and do nothing where there is one rank. What they do is queued in the stream of the backend.
 */
#ifndef LARMOR_CORE_HALO_CUH
#define LARMOR_CORE_HALO_CUH

#include "core/gpu.cuh"
#include "ranks/ranks.h"

/* Finds out how the GPUs of the ranks exchange data, by what is wanted. LM_BAD_INPUT on all ranks: that is not there.
 * `spares_links`: NCCL shall go through the memory of the hosts. The first call of a process that uses NCCL decides
 * this for all. */
int lm_gpu_transport_begin(enum lm_gpu_exchange wanted, int spares_links);

/* How: "NCCL 2.28.3", "NCCL 2.28.3 through the memory of the hosts", "pinned memory and MPI". */
const char *lm_gpu_transport(void);

/* Whether an exchange is queued in the stream, so that the host does not wait. */
bool lm_gpu_transport_is_queued(void);

/* Sends and receives messages (src/ranks/ranks.h) that lie in the memory of the GPU. An exchange that is queued goes to
 * `stream`. */
int lm_gpu_transport_exchange(struct lm_gpu *g, const struct lm_message *out, int out_count,
                              const struct lm_message *in, int in_count, cudaStream_t stream);

/* The lists of the halo on the device, and the buffers. */
int lm_gpu_halo_begin(struct lm_gpu *g);
void lm_gpu_halo_end(struct lm_gpu *g);

/* Counts the time of the exchanges since the last call. The stream must be idle. */
void lm_gpu_halo_count_time(struct lm_gpu *g);

/* Copies own cells into the halos of other ranks, for `count` grid arrays with ghost cells. The images beyond periodic
 * sides are written as well. */
int lm_gpu_halo_refresh(struct lm_gpu *g, double *const *arrays, int count);

/* Copies what the owners of the cells at a radiating side have along it into the other ranks that hold these cells:
 * `values` are [lines of the arrays along the side][each], on the device. Nothing on a rank that has no such lines. */
int lm_gpu_halo_refresh_side(struct lm_gpu *g, int side, double *values, int each);

/* Adds up what all ranks have in the same cell, and gives each of them the sum: arrays [ny][nx][each], of which the
 * first `used` numbers from `first` on take part. */
int lm_gpu_halo_add(struct lm_gpu *g, lm_u64 *const *arrays, int count, int each, int first, int used);

/* The same for the sums of the moments of a species. */
int lm_gpu_halo_add_sums(struct lm_gpu *g);

/* --- the same beside the pass of the particles that do not reach shared cells --- */

/* The tiles: first those at the edge, whose particles reach shared cells before the next sort. */
struct lm_gpu_tile_order {
    const uint32_t *tile; /* on the device: [tiles] */
    uint32_t edge;        /* number of tiles at the edge */
};

/* NULL: there is one rank. */
const struct lm_gpu_tile_order *lm_gpu_halo_tiles(const struct lm_gpu *g);

/* Whether exchanges can go on beside the stream. The same on all ranks. */
bool lm_gpu_halo_has_side(const struct lm_gpu *g);

/* A stream that goes on from here beside that of the backend, and comes first where both have work. */
cudaStream_t lm_gpu_halo_fork(struct lm_gpu *g);

/* Adds up the sums of the moments in that stream. */
int lm_gpu_halo_add_sums_beside(struct lm_gpu *g);

/* Lets the stream of the backend wait for lm_gpu_halo_add_sums_beside. Returns false if there is nothing to wait for.
 */
bool lm_gpu_halo_join(struct lm_gpu *g);

/* The ranks that particles may go to, which own cells of the halo, and those that they may come from. */
struct lm_gpu_neighbours {
    int out, in;
    const int *out_rank, *in_rank;
    int unit, units_x; /* as in struct lm_partition */
    const int *owner;  /* on the device: of each unit of the domain, the index of its owner in out_rank; or -1 */
};
const struct lm_gpu_neighbours *lm_gpu_halo_neighbours(const struct lm_gpu *g);

/* Arrays from one division of the domain to the next: the operations of the seam. */
int lm_gpu_depart(struct lm_backend *b, const struct lm_halo_move *move, const int *list, int count,
                  struct lm_crate **out);
int lm_gpu_arrive(struct lm_backend *b, const struct lm_halo_move *move, const int *list, int count,
                  struct lm_crate *crate);

/* Memory of the device for an exchange of so many bytes, until the next exchange. */
void *lm_gpu_halo_buffer(struct lm_gpu *g, size_t bytes);

#endif
