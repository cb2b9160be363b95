#include "ranks/halo.h"

#include <stdlib.h>
#include <string.h>

#include "larmor/base.h"
#include "ranks/ranks.h"

/* --- the lists --- */

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static struct lm_cells common(struct lm_cells a, struct lm_cells b)
{
    return (struct lm_cells){larger(a.from_x, b.from_x), smaller(a.to_x, b.to_x), larger(a.from_y, b.from_y),
                             smaller(a.to_y, b.to_y)};
}

static struct lm_cells moved(struct lm_cells c, int x, int y)
{
    return (struct lm_cells){c.from_x + x, c.to_x + x, c.from_y + y, c.to_y + y};
}

/* The arrays of a rank in the domain. Cells are those of the domain, but they go on beyond periodic sides. */
struct extent {
    int x, y;                  /* the cell at (0, 0) of the arrays */
    struct lm_cells own, held; /* `held`: all cells of the arrays */
};

/* `beyond`: ghost cells that count as cells beyond walls. */
static struct extent extent_of(const struct lm_partition *p, const struct lm_grid *domain, int rank, int beyond)
{
    const struct lm_grid g = lm_partition_grid(p, domain, rank);
    const int walls_x = p->sides.of[LM_X_MIN] != LM_PERIODIC ? beyond : 0,
              walls_y = p->sides.of[LM_Y_MIN] != LM_PERIODIC ? beyond : 0;
    struct extent e = {
        p->own[rank].from_x - g.own.from_x, p->own[rank].from_y - g.own.from_y, {0, 0, 0, 0}, {0, 0, 0, 0}};
    e.own = moved(lm_own_and_beyond(&g, walls_x, walls_y), e.x, e.y);
    e.held = (struct lm_cells){e.x - (e.x == 0 ? walls_x : 0), e.x + g.nx + (e.x + g.nx == p->nx ? walls_x : 0),
                               e.y - (e.y == 0 ? walls_y : 0), e.y + g.ny + (e.y + g.ny == p->ny ? walls_y : 0)};
    return e;
}

static int add_piece(struct lm_halo_list *l, int peer, struct lm_cells cells)
{
    if (l->count % 16 == 0) {
        struct lm_halo_piece *more = realloc(l->piece, (size_t)(l->count + 16) * sizeof *more);
        if (!more)
            return lm_fail(LM_FAILED, "not enough memory for the lists of the halo");
        l->piece = more;
    }
    l->piece[l->count++] = (struct lm_halo_piece){peer, cells};
    return LM_OK;
}

/* Adds the cells that `owner` owns and `holder` holds, as indices of the arrays of `self`, which is one of them. */
static int add_pieces(const struct lm_partition *p, const struct extent *owner, const struct extent *holder,
                      const struct extent *self, int peer, struct lm_halo_list *l)
{
    const int around_x = p->sides.of[LM_X_MIN] == LM_PERIODIC, around_y = p->sides.of[LM_Y_MIN] == LM_PERIODIC;
    for (int b = -around_y; b <= around_y; b++)
        for (int a = -around_x; a <= around_x; a++) {
            struct lm_cells c = common(moved(owner->own, a * p->nx, b * p->ny), holder->held);
            if (c.from_x >= c.to_x || c.from_y >= c.to_y)
                continue;
            if (self == owner)
                c = moved(c, -a * p->nx, -b * p->ny);
            const int status = add_piece(l, peer, moved(c, -self->x, -self->y));
            if (status)
                return status;
        }
    return LM_OK;
}

/* Which lists make_lists makes. */
struct wanted {
    int beyond;    /* ghost cells that count as cells beyond walls */
    int with_self; /* also cells of which this rank is both owner and holder */
    int reached;   /* cells that the particles of one rank reach, in place of those that it owns */
};

/* The cells that particles of own cells reach until the next sort. Where the arrays hold all of an axis, particles go
 * around it. */
static struct lm_cells reached(const struct lm_partition *p, const struct extent *e)
{
    const int x = e->held.to_x - e->held.from_x < p->nx ? LM_HALO_READ : p->nx,
              y = e->held.to_y - e->held.from_y < p->ny ? LM_HALO_READ : p->ny;
    return common(e->held, (struct lm_cells){e->own.from_x - x, e->own.to_x + x, e->own.from_y - y, e->own.to_y + y});
}

static struct extent owner_of(const struct lm_partition *p, const struct lm_grid *domain, int rank,
                              const struct wanted *w)
{
    struct extent e = extent_of(p, domain, rank, w->beyond);
    if (w->reached)
        e.own = reached(p, &e);
    return e;
}

/* What this rank owns in one division and others hold in another, and the other way round. */
static int make_lists(const struct lm_partition *owners, const struct lm_partition *holders,
                      const struct lm_grid *domain, int rank, struct wanted w, struct lm_halo_list *owned,
                      struct lm_halo_list *held)
{
    const struct extent owner = owner_of(owners, domain, rank, &w), holder = extent_of(holders, domain, rank, w.beyond);
    int status = LM_OK;
    for (int peer = 0; peer < owners->ranks && !status; peer++) {
        if (peer == rank && !w.with_self)
            continue;
        const struct extent other_owner = owner_of(owners, domain, peer, &w),
                            other_holder = extent_of(holders, domain, peer, w.beyond);
        status = add_pieces(owners, &owner, &other_holder, &owner, peer, owned);
        if (!status)
            status = add_pieces(owners, &other_owner, &holder, &holder, peer, held);
    }
    return status;
}

/* Whether cells go on beyond a side, which has walls. */
static int reaches(const struct lm_cells *c, const struct lm_grid *g, int side)
{
    return side == LM_X_MIN   ? c->from_x < 0
           : side == LM_X_MAX ? c->to_x > g->nx
           : side == LM_Y_MIN ? c->from_y < 0
                              : c->to_y > g->ny;
}

int lm_halo_lines(const struct lm_halo_list *l, const struct lm_grid *g, int side, struct lm_halo_list *to)
{
    int status = LM_OK;
    for (int k = 0; k < l->count && !status; k++) {
        const struct lm_cells c = common(l->piece[k].cells, (struct lm_cells){0, g->nx, 0, g->ny});
        if (reaches(&l->piece[k].cells, g, side))
            status = add_piece(to, l->piece[k].peer,
                               side < LM_Y_MIN ? (struct lm_cells){c.from_y, c.to_y, 0, 1}
                                               : (struct lm_cells){c.from_x, c.to_x, 0, 1});
    }
    return status;
}

int lm_halo_make(const struct lm_partition *p, const struct lm_grid *domain, int rank, struct lm_halo *h)
{
    *h = (struct lm_halo){.grid = lm_partition_grid(p, domain, rank), .partition = p};
    int status = make_lists(p, p, domain, rank, (struct wanted){.beyond = LM_GHOST}, &h->owned, &h->held);
    if (!status)
        status = make_lists(p, p, domain, rank, (struct wanted){.reached = 1}, &h->shared, &h->added);
    for (int side = 0; side < LM_SIDES && !status; side++) {
        status = lm_halo_lines(&h->owned, &h->grid, side, &h->owned_at[side]);
        if (!status)
            status = lm_halo_lines(&h->held, &h->grid, side, &h->held_at[side]);
    }
    if (status)
        lm_halo_free(h);
    return status;
}

void lm_halo_free(struct lm_halo *h)
{
    free(h->owned.piece);
    free(h->held.piece);
    free(h->shared.piece);
    free(h->added.piece);
    for (int side = 0; side < LM_SIDES; side++) {
        free(h->owned_at[side].piece);
        free(h->held_at[side].piece);
    }
    free(h->buffer);
    *h = (struct lm_halo){.buffer = NULL};
}

/* --- the exchange --- */

static size_t cells_of(const struct lm_cells *c)
{
    return (size_t)(c->to_x - c->from_x) * (size_t)(c->to_y - c->from_y);
}

static size_t cells_in(const struct lm_halo_list *l)
{
    size_t n = 0;
    for (int k = 0; k < l->count; k++)
        n += cells_of(&l->piece[k].cells);
    return n;
}

/* Copies the cells of a list between arrays and a buffer. `rows` says where a row of an array is. All data have 8
 * bytes.
 */
struct copy {
    const struct lm_grid *grid;
    char *const *arrays;
    int count, each, ghosts; /* arrays; numbers of a cell; whether the arrays have ghost cells */
};

static char *at(const struct copy *c, int array, int i, int j)
{
    const size_t cell = c->ghosts ? lm_at(c->grid, i, j) : (size_t)j * (size_t)c->grid->nx + (size_t)i;
    return c->arrays[array] + cell * (size_t)c->each * 8;
}

enum direction { PACK, UNPACK, ADD };

static void copy_row(char *row, char *buffer, size_t size, enum direction way)
{
    if (way == PACK)
        memcpy(buffer, row, size);
    else if (way == UNPACK)
        memcpy(row, buffer, size);
    for (size_t k = 0; k < size / 8 && way == ADD; k++)
        ((int64_t *)row)[k] += ((const int64_t *)buffer)[k];
}

/* Returns the end of what it has used of the buffer. */
static char *copy_piece(const struct copy *c, const struct lm_cells *cells, char *buffer, enum direction way)
{
    const size_t size = (size_t)(cells->to_x - cells->from_x) * (size_t)c->each * 8;
    for (int a = 0; a < c->count; a++)
        for (int j = cells->from_y; j < cells->to_y; j++, buffer += size)
            copy_row(at(c, a, cells->from_x, j), buffer, size, way);
    return buffer;
}

static char *reserve(struct lm_halo *h, size_t size)
{
    if (size <= h->buffer_size)
        return h->buffer;
    free(h->buffer);
    h->buffer = malloc(size);
    h->buffer_size = size;
    if (!h->buffer)
        lm_ranks_abort(LM_FAILED, "not enough memory for the exchange of the halo");
    return h->buffer;
}

/* One message for each peer of a list, one after the other in the buffer. Returns their number. */
static int make_messages(const struct lm_halo_list *l, size_t bytes, char *buffer, struct lm_message *m)
{
    int n = 0;
    for (int k = 0; k < l->count; k++) {
        const size_t size = cells_of(&l->piece[k].cells) * bytes;
        if (n == 0 || m[n - 1].peer != l->piece[k].peer)
            m[n++] = (struct lm_message){l->piece[k].peer, 0, buffer};
        m[n - 1].size += size;
        buffer += size;
    }
    return n;
}

/* Sends the cells of list `from` of this rank, which are those of list `to` of the others. */
static void exchange(struct lm_halo *h, const struct copy *source, const struct lm_halo_list *from,
                     const struct copy *target, const struct lm_halo_list *to, enum direction way)
{
    const size_t bytes = 8 * (size_t)source->each * (size_t)source->count;
    char *out = reserve(h, (cells_in(from) + cells_in(to)) * bytes), *in = out + cells_in(from) * bytes, *end = out;
    struct lm_message *m = malloc((size_t)(from->count + to->count + 1) * sizeof *m);
    if (!m)
        lm_ranks_abort(LM_FAILED, "not enough memory for the exchange of the halo");
    for (int k = 0; k < from->count; k++)
        end = copy_piece(source, &from->piece[k].cells, end, PACK);
    const int sent = make_messages(from, bytes, out, m), received = make_messages(to, bytes, in, m + sent);
    lm_ranks_exchange(m, sent, m + sent, received);
    for (int k = 0; k < to->count; k++)
        in = copy_piece(target, &to->piece[k].cells, in, way);
    free(m);
}

/* --- when the halo is refreshed --- */

/* Cells at the edge of the arrays in which moments are wrong: each filter, and the average before it, read the cells
 * beside. */
static int wrong_moments(const struct lm_halo *h)
{
    return 1 + h->smoothing;
}

/* The cells that a void reads around itself, and those that they read (larmor/physics/fields/void.h). */
enum { VOID_REACH = 4 };

/* E and its filter read the cells beside, too, and at bodies one cell more (struct lm_body_node). */
int lm_halo_needs_moments(const struct lm_halo *h)
{
    if (!h)
        return 0;
    const int wrong_e = wrong_moments(h) + VOID_REACH + 3 + h->has_bodies + h->smoothing,
              wrong_flow = wrong_moments(h) + 5;
    return LM_HALO_READ + larger(wrong_e, wrong_flow) > h->partition->halo;
}

int lm_halo_is_used_up(const struct lm_halo *h, int substep, int substeps)
{
    if (!h)
        return 0;
    const int moved = h->has_bodies ? 12 : 8; /* cells that the error moves inwards in a substep */
    const int right = h->partition->halo - (lm_halo_needs_moments(h) ? 0 : wrong_moments(h) + VOID_REACH);
    return (substep + 1) % (right / moved) == 0 || substep + 1 == substeps;
}

/* --- the arrays --- */

void lm_halo_refresh(struct lm_halo *h, double *const *arrays, int count)
{
    if (!h)
        return;
    const struct copy c = {&h->grid, (char *const *)arrays, count, 1, 1};
    exchange(h, &c, &h->owned, &c, &h->held, UNPACK);
    for (int k = 0; k < count; k++)
        lm_grid_wrap(&h->grid, arrays[k]);
}

/* Values along a side are as those of the cells of one row. */
void lm_halo_refresh_side(struct lm_halo *h, int side, double *values, int each)
{
    char *const array[] = {(char *)values};
    const struct copy c = {&h->grid, array, 1, each, 0};
    exchange(h, &c, &h->owned_at[side], &c, &h->held_at[side], UNPACK);
}

void lm_halo_add(struct lm_halo *h, int64_t *const *arrays, int count, int each)
{
    if (!h)
        return;
    const struct copy c = {&h->grid, (char *const *)arrays, count, each, 0};
    exchange(h, &c, &h->shared, &c, &h->added, ADD);
}

/* --- from one division to another --- */

int lm_halo_move_make(const struct lm_partition *from, const struct lm_partition *to, const struct lm_grid *domain,
                      int rank, struct lm_halo_move *m)
{
    *m =
        (struct lm_halo_move){.from = lm_partition_grid(from, domain, rank), .to = lm_partition_grid(to, domain, rank)};
    const int status =
        make_lists(from, to, domain, rank, (struct wanted){.beyond = LM_GHOST, .with_self = 1}, &m->out, &m->in);
    if (status)
        lm_halo_move_free(m);
    return status;
}

void lm_halo_move_free(struct lm_halo_move *m)
{
    free(m->out.piece);
    free(m->in.piece);
    m->out = m->in = (struct lm_halo_list){0, NULL};
}

/* `before` is only read. */
static void move_arrays(const struct lm_halo_list *out, const struct lm_halo_list *in, struct copy from,
                        const double *before, struct copy to, double *after)
{
    struct lm_halo buffer = {.buffer = NULL};
    union {
        const double *data;
        char *bytes;
    } first = {before};
    char *const source[] = {first.bytes}, *const target[] = {(char *)after};
    from.arrays = source;
    to.arrays = target;
    exchange(&buffer, &from, out, &to, in, UNPACK);
    free(buffer.buffer);
}

void lm_halo_move(const struct lm_halo_move *m, const double *from, double *to)
{
    move_arrays(&m->out, &m->in, (struct copy){&m->from, NULL, 1, 1, 1}, from, (struct copy){&m->to, NULL, 1, 1, 1},
                to);
    lm_grid_wrap(&m->to, to);
}

void lm_halo_move_side(const struct lm_halo_move *m, int side, const double *from, double *to, int each)
{
    struct lm_halo_list out = {0, NULL}, in = {0, NULL};
    if (lm_halo_lines(&m->out, &m->from, side, &out) || lm_halo_lines(&m->in, &m->to, side, &in))
        lm_ranks_abort(LM_FAILED, lm_error());
    move_arrays(&out, &in, (struct copy){&m->from, NULL, 1, each, 0}, from, (struct copy){&m->to, NULL, 1, each, 0},
                to);
    free(out.piece);
    free(in.piece);
}
