/* CUDA backend: how the GPUs of the ranks exchange data.
 *
 * NCCL sends and receives in the stream, so that the host does not wait. It is loaded when the program runs and needs a
 * GPU for each rank. Without it the data go through pinned memory of the hosts and MPI, and each exchange waits.
 */
#include "core/halo.cuh"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <sys/statvfs.h>

#include "larmor/physics/numerics/hash.h"

namespace
{

/* The part of NCCL's interface that is used (its header is needed by those only who build against the library). */
typedef struct ncclComm *nccl_communicator;
struct nccl_id {
    char bytes[128];
};
enum { NCCL_SUCCESS = 0, NCCL_INT8 = 0 };

struct nccl_library {
    void *handle;
    int (*version)(int *);
    int (*unique_id)(nccl_id *);
    int (*begin)(nccl_communicator *, int ranks, nccl_id, int rank);
    int (*group_start)(void);
    int (*group_end)(void);
    int (*send)(const void *, size_t, int type, int peer, nccl_communicator, cudaStream_t);
    int (*receive)(void *, size_t, int type, int peer, nccl_communicator, cudaStream_t);
    const char *(*error)(int);
};

/* Bytes that /dev/shm must have free, where NCCL may share memory between the processes of a machine. A guess: a
 * container often has 64 MB in all. */
const double SHARED_MEMORY = 512e6;

/* Of this process. A communicator costs about a second and is kept for the next backends of as many ranks. */
struct transport {
    nccl_library nccl;
    std::map<int, nccl_communicator> joined; /* by the number of ranks */
    nccl_communicator communicator;          /* of the present backend; NULL: data go through the hosts */
    char *pinned;
    size_t pinned_size;
    char name[64];
} transport;

bool find(void *handle, const char *name, void **to)
{
    *to = dlsym(handle, name);
    return *to != NULL;
}

bool load_nccl(nccl_library *n)
{
    if (n->handle)
        return true;
    /* Sums are never left to NCCL, so that it needs no multicast of the links. */
    setenv("NCCL_NVLS_ENABLE", "0", 1);
    void *handle = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return false;
    const bool complete =
        find(handle, "ncclGetVersion", (void **)&n->version) &&
        find(handle, "ncclGetUniqueId", (void **)&n->unique_id) &&
        find(handle, "ncclCommInitRank", (void **)&n->begin) &&
        find(handle, "ncclGroupStart", (void **)&n->group_start) &&
        find(handle, "ncclGroupEnd", (void **)&n->group_end) && find(handle, "ncclSend", (void **)&n->send) &&
        find(handle, "ncclRecv", (void **)&n->receive) && find(handle, "ncclGetErrorString", (void **)&n->error);
    if (complete)
        n->handle = handle;
    else
        dlclose(handle);
    return complete;
}

/* A number of the GPU of this rank that no other GPU has. */
uint64_t identity_of_gpu()
{
    int device = 0;
    struct cudaDeviceProp p;
    uint64_t words[2];
    if (cudaGetDevice(&device) != cudaSuccess || cudaGetDeviceProperties(&p, device) != cudaSuccess)
        return 0;
    memcpy(words, p.uuid.bytes, sizeof words);
    return lm_mix(words[0] ^ lm_mix(words[1]));
}

/* Whether no two ranks share a GPU. The same on all ranks. */
bool each_has_a_gpu()
{
    const int ranks = lm_rank_count();
    uint64_t *all = (uint64_t *)malloc((size_t)ranks * sizeof *all);
    bool different = true;
    if (!all)
        lm_ranks_abort(LM_FAILED, "not enough memory");
    lm_ranks_gather(identity_of_gpu(), all);
    for (int a = 0; a < ranks; a++)
        for (int b = 0; b < a; b++)
            different = different && all[a] != all[b];
    free(all);
    return different;
}

int nccl_check(int error, const char *what)
{
    return error == NCCL_SUCCESS ? LM_OK : lm_fail(LM_FAILED, "NCCL: %s: %s", what, transport.nccl.error(error));
}

bool goes_over_links()
{
    const char *disabled = getenv("NCCL_P2P_DISABLE");
    return !disabled || strtol(disabled, NULL, 0) != 1;
}

bool has_shared_memory()
{
    struct statvfs s;
    return !statvfs("/dev/shm", &s) && (double)s.f_bavail * (double)s.f_frsize >= SHARED_MEMORY;
}

/* NCCL reads its variables once in a process, and the ranks must not differ in them. Rank 0 was in each communicator,
 * so that it knows the way if there is one. A user who has set one of the variables has decided. */
void choose_way(int spares_links)
{
    const bool is_first = transport.joined.empty(), is_decided = !is_first || getenv("NCCL_P2P_DISABLE") ||
                                                                 getenv("NCCL_P2P_LEVEL") || getenv("NCCL_SHM_DISABLE");
    const bool have_room = !lm_ranks_largest(!has_shared_memory());
    int disabled = is_decided ? !goes_over_links() : spares_links && have_room;
    lm_ranks_broadcast(&disabled, sizeof disabled);
    if (is_first)
        setenv("NCCL_P2P_DISABLE", disabled ? "1" : "0", 1);
}

/* Joins the ranks. The ranks agree upon success. */
int join_ranks()
{
    nccl_library *n = &transport.nccl;
    nccl_id id = {};
    nccl_communicator communicator = NULL;
    int status = LM_OK;
    if (transport.joined.count(lm_rank_count()))
        return LM_OK;
    if (lm_rank() == 0)
        status = nccl_check(n->unique_id(&id), "start");
    if (lm_ranks_largest(status != LM_OK))
        return LM_FAILED;
    lm_ranks_broadcast(&id, sizeof id);
    status = nccl_check(n->begin(&communicator, lm_rank_count(), id, lm_rank()), "start");
    if (lm_ranks_largest(status != LM_OK))
        return LM_FAILED;
    transport.joined[lm_rank_count()] = communicator;
    return LM_OK;
}

/* Pinned memory of at least that size. */
char *pinned_memory(size_t size)
{
    if (size <= transport.pinned_size)
        return transport.pinned;
    cudaFreeHost(transport.pinned);
    transport.pinned_size = size + size / 4;
    if (cudaMallocHost((void **)&transport.pinned, transport.pinned_size) != cudaSuccess)
        lm_ranks_abort(LM_FAILED, "not enough pinned memory for the exchange between GPUs");
    return transport.pinned;
}

size_t size_of(const struct lm_message *m, int count)
{
    size_t size = 0;
    for (int k = 0; k < count; k++)
        size += m[k].size;
    return size;
}

/* Copies messages to or from their places in pinned memory, and lists them there. */
void copy_messages(struct lm_gpu *g, const struct lm_message *m, int count, char *pinned, cudaMemcpyKind way,
                   struct lm_message *host)
{
    for (int k = 0; k < count; pinned += m[k++].size) {
        host[k] = {m[k].peer, m[k].size, pinned};
        if (way == cudaMemcpyDeviceToHost)
            lm_gpu_check(g, cudaMemcpyAsync(pinned, m[k].data, m[k].size, way, g->stream), "exchange between GPUs");
        if (way == cudaMemcpyHostToDevice)
            lm_gpu_check(g, cudaMemcpyAsync(m[k].data, pinned, m[k].size, way, g->stream), "exchange between GPUs");
    }
}

int exchange_by_hosts(struct lm_gpu *g, const struct lm_message *out, int out_count, const struct lm_message *in,
                      int in_count)
{
    const size_t sent = size_of(out, out_count);
    lm_gpu_wait(g, "exchange between GPUs"); /* what the last exchange has received is still being copied */
    char *const pinned = pinned_memory(sent + size_of(in, in_count));
    struct lm_message *host = (struct lm_message *)malloc((size_t)(out_count + in_count + 1) * sizeof *host);
    if (!host)
        lm_ranks_abort(LM_FAILED, "not enough memory for messages");
    copy_messages(g, out, out_count, pinned, cudaMemcpyDeviceToHost, host);
    lm_gpu_wait(g, "exchange between GPUs");
    copy_messages(g, in, in_count, pinned + sent, cudaMemcpyHostToHost, host + out_count);
    if (g->failed) /* the others wait for this rank's data */
        lm_ranks_abort(LM_FAILED, lm_error());
    lm_ranks_exchange(host, out_count, host + out_count, in_count);
    copy_messages(g, in, in_count, pinned + sent, cudaMemcpyHostToDevice, host + out_count);
    free(host);
    return g->failed;
}

int exchange_by_nccl(struct lm_gpu *g, const struct lm_message *out, int out_count, const struct lm_message *in,
                     int in_count, cudaStream_t stream)
{
    const nccl_library *n = &transport.nccl;
    int error = n->group_start();
    for (int k = 0; k < out_count && error == NCCL_SUCCESS; k++)
        error = n->send(out[k].data, out[k].size, NCCL_INT8, out[k].peer, transport.communicator, stream);
    for (int k = 0; k < in_count && error == NCCL_SUCCESS; k++)
        error = n->receive(in[k].data, in[k].size, NCCL_INT8, in[k].peer, transport.communicator, stream);
    const int ended = n->group_end();
    if (nccl_check(error != NCCL_SUCCESS ? error : ended, "exchange"))
        lm_ranks_abort(LM_FAILED, lm_error());
    lm_ranks_add_traffic(0, (double)size_of(out, out_count), out_count);
    return g->failed;
}

} // namespace

int lm_gpu_transport_begin(enum lm_gpu_exchange wanted, int spares_links)
{
    const bool loaded = wanted != LM_EXCHANGE_HOST && !lm_ranks_largest(!load_nccl(&transport.nccl));
    const bool possible = loaded && each_has_a_gpu();
    if (possible)
        choose_way(spares_links);
    if (possible && !join_ranks()) {
        int version = 0;
        transport.nccl.version(&version);
        snprintf(transport.name, sizeof transport.name, "NCCL %d.%d.%d%s", version / 10000, version / 100 % 100,
                 version % 100, goes_over_links() ? "" : " through the memory of the hosts");
        transport.communicator = transport.joined[lm_rank_count()];
        return LM_OK;
    }
    if (wanted == LM_EXCHANGE_NCCL || wanted == LM_EXCHANGE_NCCL_HOST)
        return lm_fail(LM_BAD_INPUT, "run.gpu_exchange = %s: %s; use auto",
                       wanted == LM_EXCHANGE_NCCL ? "nccl" : "nccl_host",
                       possible ? "NCCL does not start"
                       : loaded ? "ranks share a GPU"
                                : "there is no libnccl.so.2");
    transport.communicator = NULL;
    snprintf(transport.name, sizeof transport.name, "pinned memory and MPI");
    return LM_OK;
}

const char *lm_gpu_transport(void)
{
    return transport.name;
}

bool lm_gpu_transport_is_queued(void)
{
    return transport.communicator != NULL;
}

int lm_gpu_transport_exchange(struct lm_gpu *g, const struct lm_message *out, int out_count,
                              const struct lm_message *in, int in_count, cudaStream_t stream)
{
    return lm_gpu_transport_is_queued() ? exchange_by_nccl(g, out, out_count, in, in_count, stream)
                                        : exchange_by_hosts(g, out, out_count, in, in_count);
}
