/* The ranks of an MPI run. Built with LM_MPI this file needs the library; else there is one rank. */
#include "ranks/ranks.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "larmor/base.h"

#ifdef LM_MPI
#include <mpi.h>
#include <sys/prctl.h>
#endif

static int rank, count = 1, started = 1, here = 1, number_here, wanted, planned;

static struct lm_ranks_traffic traffic;

struct lm_ranks_traffic lm_ranks_traffic(void)
{
    return traffic;
}

void lm_ranks_add_traffic(double seconds, double bytes, double messages)
{
    traffic.seconds += seconds;
    traffic.bytes += bytes;
    traffic.messages += messages;
}

int lm_rank(void)
{
    return rank;
}

int lm_rank_count(void)
{
    return count;
}

int lm_ranks_here(void)
{
    return here < count ? here : count;
}

int lm_rank_here(void)
{
    return number_here;
}

void lm_ranks_use(int ranks)
{
    wanted = ranks;
}

void lm_ranks_plan(int ranks)
{
    planned = ranks;
}

int lm_ranks_planned(void)
{
    return planned;
}

int lm_ranks_used(void)
{
    return wanted > 0 && wanted < started ? wanted : started;
}

int lm_ranks_expected(void)
{
    return planned > 0 ? planned : lm_ranks_used();
}

/* The variables are those of Open MPI, of MPICH and its relatives, and of MVAPICH2; PMIx tells no number. */
int lm_ranks_launched(void)
{
    static const char *const variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"};
    for (size_t k = 0; k < sizeof variables / sizeof *variables; k++)
        if (getenv(variables[k]))
            return atoi(getenv(variables[k]));
    return getenv("PMIX_RANK") || getenv("PMI_RANK");
}

#ifdef LM_MPI

static MPI_Comm all, world; /* of all ranks that have been started; of those that take part */
static double limit = 1800;

void lm_ranks_begin(void)
{
    int provided;
    if (!lm_ranks_launched())
        return;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &started);
    count = started;
    world = all;
    prctl(PR_SET_TIMERSLACK, 1000ul); /* ns. By default Linux adds up to 50 us to each pause of `rest`. */
    MPI_Comm machine;
    MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &here);
    MPI_Comm_rank(machine, &number_here);
    MPI_Comm_free(&machine);
}

void lm_ranks_enter(int ranks)
{
    if (started == 1 || ranks == started)
        return;
    MPI_Comm_split(all, rank < ranks, rank, &world);
    count = ranks;
}

void lm_ranks_leave(void)
{
    if (world != all)
        MPI_Comm_free(&world);
    world = all;
    count = started;
}

void lm_ranks_end(void)
{
    int initialized;
    MPI_Initialized(&initialized);
    if (!initialized)
        return;
    MPI_Comm_free(&all);
    MPI_Finalize();
}

const char *lm_ranks_library(void)
{
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(text, &length);
    text[strcspn(text, ",\n")] = 0;
    return text;
}

void lm_ranks_set_limit(double seconds)
{
    limit = seconds;
}

void lm_ranks_abort(int code, const char *message)
{
    if (count > 1)
        fprintf(stderr, "larmor: rank %d: %s\n", rank, message);
    else
        fprintf(stderr, "larmor: %s\n", message);
    fflush(NULL);
    if (count > 1)
        MPI_Abort(MPI_COMM_WORLD, code);
    _Exit(code);
}

void lm_ranks_check_wait(double begin)
{
    char text[128];
    if (lm_clock() - begin <= limit)
        return;
    snprintf(text, sizeof text, "another rank has not answered for %g s (run.rank_limit): the run is ended", limit);
    lm_ranks_abort(LM_FAILED, text);
}

/* A rank that waits gives its core to others: at first at once, later for longer. */
static void rest(int polls)
{
    const struct timespec pause = {0, 20000};
    if (polls > 2000)
        nanosleep(&pause, NULL);
    else if (polls > 20)
        sched_yield();
}

static void wait_for(int requests, MPI_Request *request)
{
    const double begin = lm_clock();
    int done = 0;
    for (int polls = 0; !done; polls++) {
        MPI_Testall(requests, request, &done, MPI_STATUSES_IGNORE);
        if (done)
            break;
        rest(polls);
        if (polls % 1024 == 1023)
            lm_ranks_check_wait(begin);
    }
    traffic.seconds += lm_clock() - begin;
}

/* Waits for the other ranks in a collective function. */
static void wait_for_all(MPI_Request *request)
{
    traffic.collectives++;
    wait_for(1, request);
}

/* MPI counts with int: large pieces of data go in several messages. */
enum { PIECE = 1 << 30 };

static size_t pieces_of(size_t size)
{
    return size == 0 ? 1 : (size + PIECE - 1) / PIECE;
}

static int piece_size(size_t size, size_t piece)
{
    const size_t left = size - piece * PIECE;
    return (int)(left < PIECE ? left : PIECE);
}

void lm_ranks_broadcast(void *data, size_t size)
{
    for (size_t k = 0; count > 1 && k < pieces_of(size); k++) {
        MPI_Request request;
        MPI_Ibcast((char *)data + k * PIECE, piece_size(size, k), MPI_BYTE, 0, world, &request);
        wait_for_all(&request);
    }
}

static lm_merge *merging;

static void merge_one(void *from, void *to, int *length, MPI_Datatype *type)
{
    (void)length;
    (void)type;
    merging(to, from);
}

void lm_ranks_reduce(void *data, size_t size, lm_merge *merge)
{
    MPI_Datatype type;
    MPI_Op op;
    MPI_Request request;
    if (count == 1)
        return;
    merging = merge;
    MPI_Type_contiguous((int)size, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(merge_one, 1, &op);
    MPI_Iallreduce(MPI_IN_PLACE, data, 1, type, op, world, &request);
    wait_for_all(&request);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
}

static uint64_t reduced(uint64_t value, MPI_Op op)
{
    MPI_Request request;
    if (count == 1)
        return value;
    MPI_Iallreduce(MPI_IN_PLACE, &value, 1, MPI_UINT64_T, op, world, &request);
    wait_for_all(&request);
    return value;
}

uint64_t lm_ranks_largest(uint64_t value)
{
    return reduced(value, MPI_MAX);
}

int64_t lm_ranks_sum(int64_t value)
{
    return (int64_t)reduced((uint64_t)value, MPI_SUM); /* modulo 2^64 */
}

void lm_ranks_gather(uint64_t value, uint64_t *all)
{
    MPI_Request request;
    all[0] = value;
    if (count == 1)
        return;
    MPI_Iallgather(&value, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, world, &request);
    wait_for_all(&request);
}

static size_t count_pieces(const struct lm_message *m, int messages)
{
    size_t n = 0;
    for (int k = 0; k < messages; k++)
        n += pieces_of(m[k].size);
    return n;
}

void lm_ranks_exchange(const struct lm_message *out, int out_count, const struct lm_message *in, int in_count)
{
    const size_t most = count_pieces(out, out_count) + count_pieces(in, in_count);
    MPI_Request *request = malloc((most + 1) * sizeof *request);
    int n = 0;
    if (!request)
        lm_ranks_abort(LM_FAILED, "not enough memory for messages");
    for (int k = 0; k < in_count; k++)
        for (size_t p = 0; p < pieces_of(in[k].size); p++)
            MPI_Irecv((char *)in[k].data + p * PIECE, piece_size(in[k].size, p), MPI_BYTE, in[k].peer, 0, world,
                      &request[n++]);
    for (int k = 0; k < out_count; k++) {
        traffic.bytes += (double)out[k].size;
        traffic.messages++;
        for (size_t p = 0; p < pieces_of(out[k].size); p++)
            MPI_Isend((const char *)out[k].data + p * PIECE, piece_size(out[k].size, p), MPI_BYTE, out[k].peer, 0,
                      world, &request[n++]);
    }
    wait_for(n, request);
    free(request);
}

#else

void lm_ranks_begin(void)
{
    const char *me = getenv("OMPI_COMM_WORLD_RANK") ? getenv("OMPI_COMM_WORLD_RANK") : getenv("PMI_RANK");
    if (lm_ranks_launched() < 2)
        return;
    if (!me || atoi(me) == 0)
        fprintf(
            stderr,
            "larmor: this program was built without MPI: %d processes cannot share a run; build it where MPI is, or "
            "start one process\n",
            lm_ranks_launched());
    exit(LM_BAD_INPUT);
}

void lm_ranks_end(void)
{
}

void lm_ranks_enter(int ranks)
{
    (void)ranks;
}

void lm_ranks_leave(void)
{
}

const char *lm_ranks_library(void)
{
    return NULL;
}

void lm_ranks_set_limit(double seconds)
{
    (void)seconds;
}

void lm_ranks_check_wait(double begin)
{
    (void)begin;
}

void lm_ranks_abort(int code, const char *message)
{
    fprintf(stderr, "larmor: %s\n", message);
    fflush(NULL);
    _Exit(code);
}

void lm_ranks_broadcast(void *data, size_t size)
{
    (void)data;
    (void)size;
}

void lm_ranks_reduce(void *data, size_t size, lm_merge *merge)
{
    (void)data;
    (void)size;
    (void)merge;
}

uint64_t lm_ranks_largest(uint64_t value)
{
    return value;
}

int64_t lm_ranks_sum(int64_t value)
{
    return value;
}

void lm_ranks_gather(uint64_t value, uint64_t *all)
{
    all[0] = value;
}

/* A rank alone has messages to itself only. */
void lm_ranks_exchange(const struct lm_message *out, int out_count, const struct lm_message *in, int in_count)
{
    for (int k = 0; k < out_count && k < in_count; k++)
        memcpy(in[k].data, out[k].data, out[k].size);
}

#endif
