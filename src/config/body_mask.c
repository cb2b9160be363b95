/* The cells of bodies: disks, boxes and polygons. Masks come from files (body_file.c). */
#include "config/body_shape.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/body_obstacles.h"

/* The grid, and the periods with which a shape repeats; 0 along an axis with walls. */
struct frame {
    struct lm_grid grid;
    double period[2];
};

struct polygon {
    int count;
    double point[LM_MAX_POINTS][2];
    double low[2], high[2]; /* bounding box */
};

static const char *skip_blanks(const char *p)
{
    return p + strspn(p, " \t");
}

/* Reads a number and returns the text after it; NULL: there is none. */
static const char *read_number(const char *p, double *out)
{
    char *end;
    if (!*p || !strchr("0123456789+-.", *p)) /* no nan */
        return NULL;
    *out = strtod(p, &end);
    return end == p || !isfinite(*out) || (*end && !strchr(" \t,", *end)) ? NULL : end;
}

int lm_body_points(const char *text, double points[LM_MAX_POINTS][2], int *count)
{
    const char *p = text;
    for (*count = 0; *count < LM_MAX_POINTS;) {
        const char *begin = skip_blanks(p), *x = read_number(begin, &points[*count][0]);
        const char *y = x && isblank((unsigned char)*x) ? read_number(skip_blanks(x), &points[*count][1]) : NULL;
        p = y ? skip_blanks(y) : begin;
        if (!y || (*p && *p != ','))
            return lm_fail(LM_BAD_INPUT, "\"%s\": two numbers and a comma expected at \"%s\" (x y, x y, ...)", text,
                           begin);
        ++*count;
        if (!*p++)
            break;
    }
    if (*count < 3)
        return lm_fail(LM_BAD_INPUT, "\"%s\": a polygon has three points or more, not %d", text, *count);
    return LM_OK;
}

/* The distance from `centre`, or from its nearest periodic image. */
static double offset(double at, double centre, double period)
{
    return period > 0.0 ? remainder(at - centre, period) : at - centre;
}

static int in_disk(const struct lm_body_config *b, const struct frame *f, double x, double y)
{
    double dx = offset(x, b->x, f->period[0]), dy = offset(y, b->y, f->period[1]);
    return dx * dx + dy * dy <= b->radius * b->radius;
}

/* A box that is wider than the periodic domain has every cell. */
static int in_box(const struct lm_body_config *b, const struct frame *f, double x, double y)
{
    double dx = offset(x, b->x, f->period[0]), dy = offset(y, b->y, f->period[1]);
    return fabs(dx) <= 0.5 * b->width && fabs(dy) <= 0.5 * b->height;
}

/* Even-odd rule: a point is inside if a ray to the right meets an odd number of edges. */
static int in_polygon(const struct polygon *p, double x, double y)
{
    int inside = 0;
    if (x < p->low[0] || x > p->high[0] || y < p->low[1] || y > p->high[1])
        return 0;
    for (int k = 0, last = p->count - 1; k < p->count; last = k++) {
        const double *a = p->point[last], *b = p->point[k];
        if ((a[1] > y) != (b[1] > y) && x < a[0] + (b[0] - a[0]) * ((y - a[1]) / (b[1] - a[1])))
            inside = !inside;
    }
    return inside;
}

static int in_any_image(const struct polygon *p, const struct frame *f, double x, double y)
{
    int nx = f->period[0] > 0.0, ny = f->period[1] > 0.0;
    for (int j = -ny; j <= ny; j++)
        for (int i = -nx; i <= nx; i++)
            if (in_polygon(p, x + i * f->period[0], y + j * f->period[1]))
                return 1;
    return 0;
}

/* in_any_image tests images up to one domain away, so a point that is farther away is refused. */
static int find_extent(struct polygon *p, const struct frame *f)
{
    memcpy(p->low, p->point[0], sizeof p->low);
    memcpy(p->high, p->point[0], sizeof p->high);
    for (int k = 0; k < p->count; k++)
        for (int d = 0; d < 2; d++) {
            double at = p->point[k][d], period = f->period[d];
            p->low[d] = fmin(p->low[d], at);
            p->high[d] = fmax(p->high[d], at);
            if (period > 0.0 && (at < -period || at > 2.0 * period))
                return lm_fail(LM_BAD_INPUT, "the point %g %g is more than a length of the periodic domain outside",
                               p->point[k][0], p->point[k][1]);
        }
    return LM_OK;
}

static int fill_polygon(const struct lm_body_config *b, const struct frame *f, uint8_t *own)
{
    struct polygon p;
    if (lm_body_points(b->points, p.point, &p.count) || find_extent(&p, f))
        return LM_BAD_INPUT;
    const struct lm_grid *g = &f->grid;
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++)
            *own++ = (uint8_t)in_any_image(&p, f, (i + 0.5) * g->dx, (j + 0.5) * g->dy);
    return LM_OK;
}

/* The nearest image of a very far centre would depend on round-off. */
static int check_centre(const struct lm_body_config *b, const struct frame *f)
{
    static const double MAX_LENGTHS = 1e6;
    const double centre[2] = {b->x, b->y};
    for (int d = 0; d < 2; d++)
        if (f->period[d] > 0.0 && fabs(centre[d]) > MAX_LENGTHS * f->period[d])
            return lm_fail(LM_BAD_INPUT,
                           "the centre %g %g is more than %g lengths of the periodic domain (%g x %g d_i) away", b->x,
                           b->y, MAX_LENGTHS, f->grid.lx, f->grid.ly);
    return LM_OK;
}

static int fill_round(const struct lm_body_config *b, const struct frame *f, uint8_t *own)
{
    const struct lm_grid *g = &f->grid;
    if (check_centre(b, f))
        return LM_BAD_INPUT;
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            double x = (i + 0.5) * g->dx, y = (j + 0.5) * g->dy;
            *own++ = (uint8_t)(b->shape == LM_DISK ? in_disk(b, f, x, y) : in_box(b, f, x, y));
        }
    return LM_OK;
}

static int fill(const struct lm_body_config *b, const struct frame *f, uint8_t *own)
{
    if (b->shape == LM_MASK)
        return lm_body_read(b, f->grid.nx, f->grid.ny, own);
    if (b->shape == LM_POLYGON)
        return fill_polygon(b, f, own);
    return fill_round(b, f, own);
}

/* The key that a message about the extent of a body names. */
static const char *main_key(const struct lm_body_config *b)
{
    static const char *const keys[] = {
        [LM_DISK] = "radius", [LM_BOX] = "width", [LM_POLYGON] = "points", [LM_MASK] = "file"};
    return keys[b->shape];
}

/* Writes a body over the bodies before it. 1: it has a cell. */
static int overwrite_mask(uint8_t *mask, const uint8_t *own, size_t cells, int k)
{
    int any = 0;
    for (size_t n = 0; n < cells; n++)
        if (own[n]) {
            mask[n] = (uint8_t)(k + 1);
            any = 1;
        }
    return any;
}

/* Checks what only all bodies together show. */
static int check_whole(const struct lm_config *c, const uint8_t *mask, size_t cells, int *body)
{
    size_t count[LM_MAX_BODIES + 1] = {0};
    for (size_t n = 0; n < cells; n++)
        count[mask[n]]++;
    for (*body = 0; *body < c->body_count; ++*body)
        if (count[*body + 1] == 0)
            return lm_fail(LM_BAD_INPUT, "later bodies cover all of its cells: a cell belongs to the last body");
    *body = c->body_count - 1;
    return count[0] > 0 ? LM_OK : lm_fail(LM_BAD_INPUT, "the bodies leave no cell for the plasma");
}

static struct frame frame_of(const struct lm_config *c)
{
    struct frame f = {.grid = lm_config_grid(c)};
    f.period[0] = c->boundary[LM_X_MIN] == LM_PERIODIC ? f.grid.lx : 0.0;
    f.period[1] = c->boundary[LM_Y_MIN] == LM_PERIODIC ? f.grid.ly : 0.0;
    return f;
}

int lm_body_cut(const struct lm_config *c, uint8_t *mask, int *body, const char **key)
{
    struct frame f = frame_of(c);
    int status = LM_OK;
    uint8_t *own = malloc(f.grid.cells);
    *body = 0;
    *key = "shape";
    memset(mask, 0, f.grid.cells);
    if (!own)
        return lm_fail(LM_FAILED, "not enough memory");
    for (int k = 0; k < c->body_count && !status; k++) {
        *body = k;
        status = fill(&c->body[k], &f, own);
        if (!status && !overwrite_mask(mask, own, f.grid.cells, k))
            status =
                lm_fail(LM_BAD_INPUT, "no cell's centre is in the body; cells are %g x %g d_i", f.grid.dx, f.grid.dy);
    }
    free(own);
    if (!status && c->body_count > 0)
        status = check_whole(c, mask, f.grid.cells, body);
    if (c->body_count > 0)
        *key = main_key(&c->body[*body]);
    return status;
}

int lm_body_mask(const struct lm_config *c, uint8_t *mask)
{
    int body;
    const char *key;
    int status = lm_body_cut(c, mask, &body, &key);
    return status ? lm_fail_context(status, "%s: body.%s.%s", c->file, c->body[body].name, key) : LM_OK;
}

/* ---- the shapes within cells ---- */

struct shapes {
    const struct lm_config *config;
    struct frame frame;
    struct polygon polygon[LM_MAX_BODIES];
    uint8_t *own[LM_MAX_BODIES]; /* [ny][nx] of a mask, else NULL */
};

static int is_in(const struct shapes *s, int body, double x, double y)
{
    const struct lm_body_config *b = &s->config->body[body];
    const struct lm_grid *g = &s->frame.grid;
    switch (b->shape) {
    case LM_MASK:
        return s->own[body][(size_t)y * (size_t)g->nx + (size_t)x];
    case LM_POLYGON:
        return in_any_image(&s->polygon[body], &s->frame, x * g->dx, y * g->dy);
    case LM_DISK:
        return in_disk(b, &s->frame, x * g->dx, y * g->dy);
    default:
        return in_box(b, &s->frame, x * g->dx, y * g->dy);
    }
}

/* The last body that has the place: lm_body_at. */
static int body_at(const void *shapes, double x, double y)
{
    const struct shapes *s = shapes;
    for (int k = s->config->body_count - 1; k >= 0; k--)
        if (is_in(s, k, x, y))
            return k + 1;
    return 0;
}

/* What is_in needs of a body. */
static int add_shape(struct shapes *s, int body)
{
    const struct lm_body_config *b = &s->config->body[body];
    struct polygon *p = &s->polygon[body];
    if (b->shape == LM_POLYGON)
        return lm_body_points(b->points, p->point, &p->count) || find_extent(p, &s->frame) ? LM_BAD_INPUT : LM_OK;
    if (b->shape != LM_MASK)
        return LM_OK;
    s->own[body] = malloc(s->frame.grid.cells);
    if (!s->own[body])
        return lm_fail(LM_FAILED, "not enough memory for the bodies");
    return lm_body_read(b, s->frame.grid.nx, s->frame.grid.ny, s->own[body]);
}

/* The last body but those from masks, whose surfaces lie on faces of cells. */
static int smooth_body_at(const void *shapes, double x, double y)
{
    const struct shapes *s = shapes;
    for (int k = s->config->body_count - 1; k >= 0; k--)
        if (s->config->body[k].shape != LM_MASK && is_in(s, k, x, y))
            return k + 1;
    return 0;
}

static void close_shapes(struct shapes *s)
{
    for (int k = 0; k < LM_MAX_BODIES && s; k++)
        free(s->own[k]);
    free(s);
}

static int open_shapes(const struct lm_config *c, struct shapes **out)
{
    struct shapes *s = *out = calloc(1, sizeof *s);
    int status = s ? LM_OK : lm_fail(LM_FAILED, "not enough memory for the bodies");
    if (!status)
        s->config = c, s->frame = frame_of(c);
    for (int k = 0; k < c->body_count && !status; k++) {
        status = add_shape(s, k);
        if (status)
            lm_fail_context(status, "%s: body.%s.%s", c->file, c->body[k].name, main_key(&c->body[k]));
    }
    return status;
}

int lm_body_nodes(const struct lm_config *c, const uint8_t *mask, struct lm_body_node *node)
{
    struct shapes *s;
    int fields[LM_MAX_BODIES];
    const int status = open_shapes(c, &s);
    for (int k = 0; k < c->body_count; k++)
        fields[k] = c->body[k].fields;
    if (!status)
        lm_body_nodes_make(&s->frame.grid, mask, fields, body_at, s, node);
    close_shapes(s);
    return status;
}

int lm_body_obstacles(const struct lm_config *c, const uint8_t *mask, uint8_t *of, struct lm_body_cut *cut,
                      float *factor)
{
    struct shapes *s;
    const int status = open_shapes(c, &s);
    if (!status) {
        const struct lm_body_places places = {body_at, smooth_body_at, s};
        lm_obstacles_make(&s->frame.grid, mask, &places, of, cut);
        lm_obstacles_weigh(&s->frame.grid, mask, c->particles.shape == LM_LINEAR ? 1 : 2, of, cut, factor);
    }
    close_shapes(s);
    return status;
}
