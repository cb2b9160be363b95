/* Expressions of operators on the grid as types, each evaluated by one kernel. The operators are those of
 * larmor/physics/numerics/operators.h; a node of an expression is
 *     input<N, FX, FY>              array N; FX, FY: whether it lives on faces along x, y
 *     pointwise<F, A, B>            F of two nodes that live in one place
 *     along<OP, AXIS, SET, A, U>    an operator along an axis, under conditions number SET; U: its velocity, if any
 *
 * From global memory every node evaluates its argument anew wherever it needs it. In shared memory the argument of
 * every operator has a buffer that spans the block's tile and what the operators above it reach beyond: known when it
 * is compiled. A block fills the buffers one after the other, those below first, with a barrier after each; equal
 * arguments are one buffer. Only filling a buffer, or the result, reads global memory, so a block reads an input once
 * if it is an operator's argument or occurs once.
 *
 * Blocks at walls take a path of their own; who needs a node beyond a wall goes by lm_beyond_wall from the nodes
 * inside.
 */
#ifndef LARMOR_BENCH_OPERATORS_CUH
#define LARMOR_BENCH_OPERATORS_CUH

#include <cuda_runtime.h>
#include <type_traits>

#include "larmor/grid.h"
#include "larmor/physics/numerics/operators.h"

namespace operators
{

enum { INPUTS = 4, OUTPUTS = 3, SETS = 3, THREADS = 256, SMALLEST_TILE = 8 };

/* What every evaluation has to know. The counter is for instrumented ones. */
struct domain {
    const double *in[INPUTS];
    double *out[OUTPUTS];
    int n[2], stride, walls[2];
    double cell[2], inverse[2]; /* sizes of a cell */
    double constant;
    struct lm_condition conditions[SETS][LM_SIDES];
    unsigned long long *loads;
};

/* --- what is known when an expression is compiled --- */

/* Cells around a tile. */
struct halo {
    int low[2], high[2];
};

constexpr halo nowhere = {{-99, -99}, {-99, -99}}, here = {{0, 0}, {0, 0}};

constexpr int larger(int a, int b)
{
    return a > b ? a : b;
}

constexpr halo both(halo a, halo b)
{
    return {{larger(a.low[0], b.low[0]), larger(a.low[1], b.low[1])},
            {larger(a.high[0], b.high[0]), larger(a.high[1], b.high[1])}};
}

constexpr int widest(halo h)
{
    return larger(larger(h.low[0], h.low[1]), larger(h.high[0], h.high[1]));
}

/* Which neighbours an operator reads. */
constexpr bool reads_low(int op)
{
    return op == LM_DIFF_DOWN || op == LM_DROP_DOWN || op == LM_INTERP_DOWN || op >= LM_DIFF_CENTRE;
}

constexpr bool reads_high(int op)
{
    return op == LM_DIFF_UP || op == LM_DROP_UP || op == LM_INTERP_UP || op == LM_UPWIND_PRODUCT ||
           op >= LM_DIFF_CENTRE;
}

constexpr bool reads_here(int op)
{
    return op != LM_DIFF_CENTRE;
}

constexpr halo widened(halo h, int axis, int op)
{
    h.low[axis] += reads_low(op);
    h.high[axis] += reads_high(op);
    return h;
}

template <class... A> struct list {
    static constexpr int count = sizeof...(A);
};

template <class L, class A> struct find;
template <class A> struct find<list<>, A> {
    static constexpr int index = 0;
};
template <class B, class... Rest, class A> struct find<list<B, Rest...>, A> {
    static constexpr int index = std::is_same<A, B>::value ? 0 : 1 + find<list<Rest...>, A>::index;
};

template <class L, class A> struct append;
template <class... B, class A> struct append<list<B...>, A> {
    using type = std::conditional_t<(std::is_same<A, B>::value || ...), list<B...>, list<B..., A>>;
};

template <int K, class L> struct element;
template <int K, class B, class... Rest> struct element<K, list<B, Rest...>> {
    using type = typename element<K - 1, list<Rest...>>::type;
};
template <class B, class... Rest> struct element<0, list<B, Rest...>> {
    using type = B;
};

/* Where X is needed if E is needed in h. */
template <class X, class E> constexpr halo needed(halo h)
{
    if constexpr (std::is_same<X, E>::value)
        return h;
    else
        return E::template needed_by<X>(h);
}

/* --- nodes. collect: the arguments of operators after those of L, those below first. --- */

template <int N, int FX, int FY> struct input {
    static constexpr bool faces[2] = {FX != 0, FY != 0};
    template <class L> using collect = L;
    template <class X> static constexpr halo needed_by(halo)
    {
        return nowhere;
    }
    template <class R> __device__ __forceinline__ static double value(R &r, int i, int j)
    {
        return r.load(N, i, j);
    }
};

struct product {
    static __device__ __forceinline__ double of(double a, double b)
    {
        return a * b;
    }
};

struct sum {
    static __device__ __forceinline__ double of(double a, double b)
    {
        return a + b;
    }
};

struct difference {
    static __device__ __forceinline__ double of(double a, double b)
    {
        return a - b;
    }
};

template <class F, class A, class B> struct pointwise {
    static constexpr bool faces[2] = {A::faces[0], A::faces[1]};
    static_assert(A::faces[0] == B::faces[0] && A::faces[1] == B::faces[1], "two places");
    template <class L> using collect = typename B::template collect<typename A::template collect<L>>;
    template <class X> static constexpr halo needed_by(halo h)
    {
        return both(needed<X, A>(h), needed<X, B>(h));
    }
    template <class R> __device__ __forceinline__ static double value(R &r, int i, int j)
    {
        const double a = r.template get<A>(i, j), b = r.template get<B>(i, j);
        return F::of(a, b);
    }
};

/* The domain's constant times A. */
template <class A> struct scaled {
    static constexpr bool faces[2] = {A::faces[0], A::faces[1]};
    template <class L> using collect = typename A::template collect<L>;
    template <class X> static constexpr halo needed_by(halo h)
    {
        return needed<X, A>(h);
    }
    template <class R> __device__ __forceinline__ static double value(R &r, int i, int j)
    {
        return r.d.constant * r.template get<A>(i, j);
    }
};

/* In place of a velocity where there is none. */
struct no_velocity {
    template <class L> using collect = L;
    template <class X> static constexpr halo needed_by(halo)
    {
        return nowhere;
    }
    template <class R> __device__ __forceinline__ static double value(R &, int, int)
    {
        return 0.0;
    }
};

template <int OP, int AXIS, int SET, class A, class U = no_velocity> struct along {
    static constexpr bool low = reads_low(OP), centre = reads_here(OP), high = reads_high(OP);
    static constexpr bool from_faces = A::faces[AXIS], to_faces = high && (!low || from_faces);
    static constexpr bool faces[2] = {AXIS == 0 ? to_faces : A::faces[0], AXIS == 1 ? to_faces : A::faces[1]};
    static_assert(low && high ? true : from_faces == low, "up from centres, down from faces");

    template <class L>
    using collect = typename append<typename A::template collect<typename U::template collect<L>>, A>::type;
    template <class X> static constexpr halo needed_by(halo h)
    {
        return both(needed<X, A>(widened(h, AXIS, OP)), needed<X, U>(h));
    }
    template <class R> __device__ __forceinline__ static double value(R &r, int i, int j)
    {
        const struct lm_condition *c = r.d.conditions[SET] + 2 * AXIS;
        if (R::AT_WALLS) {
            const struct lm_condition *given = lm_given_difference(OP, c, r.d.n[AXIS], AXIS == 0 ? i : j);
            if (given)
                return lm_given(OP, given);
        }
        const double a[3] = {low ? argument(r, c, i, j, -1) : 0.0, centre ? argument(r, c, i, j, 0) : 0.0,
                             high ? argument(r, c, i, j, 1) : 0.0};
        return lm_along(OP, a + 1, 1, r.d.inverse[AXIS], r.template get<U>(i, j));
    }

  private:
    template <class R> __device__ __forceinline__ static double node(R &r, int i, int j, int at)
    {
        return r.template get<A>(AXIS == 0 ? at : i, AXIS == 1 ? at : j);
    }

    /* `offset` nodes up the axis. */
    template <class R>
    __device__ __forceinline__ static double argument(R &r, const struct lm_condition *c, int i, int j, int offset)
    {
        const int at = (AXIS == 0 ? i : j) + offset;
        if (!R::AT_WALLS)
            return node(r, i, j, at);
        const struct lm_beyond b = lm_beyond_wall(c, from_faces, r.d.n[AXIS], at);
        const double first = node(r, i, j, b.first);
        if (b.steps == 0)
            return first;
        const double second = c[b.side].kind == LM_EXTRAPOLATED ? node(r, i, j, b.second) : first;
        return lm_continued(b, c, from_faces, r.d.cell[AXIS], first, second);
    }
};

/* One or more expressions that are evaluated together. */
template <class... E> struct program {
    using results = list<E...>;

  private:
    template <class L, class... Rest> struct collected {
        using type = L;
    };
    template <class L, class First, class... Rest> struct collected<L, First, Rest...> {
        using type = typename collected<typename First::template collect<L>, Rest...>::type;
    };
    template <class... A> static constexpr halo reach_of(list<A...>)
    {
        halo h = here;
        ((h = both(h, halo_of<A>())), ...);
        return h;
    }

  public:
    using buffers = typename collected<list<>, E...>::type;

    /* What a node's buffer holds around a tile. */
    template <class A> static constexpr halo halo_of()
    {
        halo h = here;
        ((h = both(h, needed<A, E>(here))), ...);
        return h;
    }

    /* Cells that the results reach beyond a tile. */
    static constexpr int reach = widest(reach_of(buffers()));
};

/* Buffer K of a program in the shared memory of a block, in numbers, with tiles of TX x TY cells. */
template <class P, int TX, int TY, int K> struct buffer {
    using argument = typename element<K, typename P::buffers>::type;
    static constexpr halo around = P::template halo_of<argument>();
    static constexpr int left = around.low[0], below = around.low[1];
    static constexpr int more_columns = left + around.high[0], more_rows = below + around.high[1];
    static constexpr int width = TX + more_columns, height = TY + more_rows;
    static constexpr int begin = buffer<P, TX, TY, K - 1>::end, end = begin + width * height;
};
template <class P, int TX, int TY> struct buffer<P, TX, TY, -1> {
    static constexpr int end = 0;
};

/* --- evaluation --- */

struct tile {
    int first[2], size[2];
};

/* Evaluates nodes with buffers 0 .. FILLED - 1 filled. */
template <class P, int TX, int TY, int FILLED, bool WALLS, bool COUNT> struct reader {
    static constexpr bool AT_WALLS = WALLS;
    const domain &d;
    const double *pool;
    const tile &t;
    unsigned &loads;

    template <class A> __device__ __forceinline__ double get(int i, int j)
    {
        constexpr int k = find<typename P::buffers, A>::index;
        if constexpr (k < FILLED) {
            using B = buffer<P, TX, TY, k>;
            return pool[B::begin + (j - t.first[1] + B::below) * B::width + (i - t.first[0] + B::left)];
        } else
            return A::value(*this, i, j);
    }

    __device__ __forceinline__ double load(int n, int i, int j)
    {
        loads += COUNT;
        return d.in[n][(size_t)(j + LM_GHOST) * d.stride + (i + LM_GHOST)];
    }
};

/* Fills buffers K and all after it. */
template <class P, int TX, int TY, int K, bool WALLS, bool COUNT>
__device__ __forceinline__ void fill(const domain &d, double *pool, const tile &t, unsigned &loads)
{
    if constexpr (K < P::buffers::count) {
        using B = buffer<P, TX, TY, K>;
        const int columns = t.size[0] + B::more_columns, rows = t.size[1] + B::more_rows;
        reader<P, TX, TY, K, WALLS, COUNT> r = {d, pool, t, loads};
        for (int k = threadIdx.x; k < B::width * B::height; k += THREADS) {
            const int x = k % B::width, y = k / B::width;
            if (x < columns && y < rows)
                pool[B::begin + k] = B::argument::value(r, t.first[0] - B::left + x, t.first[1] - B::below + y);
        }
        __syncthreads();
        fill<P, TX, TY, K + 1, WALLS, COUNT>(d, pool, t, loads);
    }
}

/* Stores results K and all after it in cell (i, j): on lower walls only what lives on faces. */
template <int K, class R, class L> __device__ __forceinline__ void store(R &r, int i, int j)
{
    if constexpr (K < L::count) {
        using E = typename element<K, L>::type;
        constexpr bool faces_x = E::faces[0], faces_y = E::faces[1];
        if ((faces_x || i >= 0) && (faces_y || j >= 0))
            r.d.out[K][(size_t)(j + LM_GHOST) * r.d.stride + (i + LM_GHOST)] = r.template get<E>(i, j);
        store<K + 1, R, L>(r, i, j);
    }
}

/* FILLED: how many buffers are used: all or none. */
template <class P, int TX, int TY, int FILLED, bool WALLS, bool COUNT>
__device__ __forceinline__ void evaluate_tile(const domain &d, double *pool, const tile &t, unsigned &loads)
{
    if constexpr (FILLED > 0)
        fill<P, TX, TY, 0, WALLS, COUNT>(d, pool, t, loads);
    reader<P, TX, TY, FILLED, WALLS, COUNT> r = {d, pool, t, loads};
    for (int k = threadIdx.x; k < TX * TY; k += THREADS)
        if (k % TX < t.size[0] && k / TX < t.size[1])
            store<0, decltype(r), typename P::results>(r, t.first[0] + k % TX, t.first[1] + k / TX);
}

/* The domain, from its lower walls on, is cut evenly: a tile is then never less than half a full one, unless it is all
 * there is, and what lm_beyond_wall reads inside a wall lies in the same tile. */
__device__ __forceinline__ tile tile_of(const domain &d)
{
    const unsigned block[2] = {blockIdx.x, blockIdx.y}, blocks[2] = {gridDim.x, gridDim.y};
    tile t;
    LM_UNROLL
    for (int axis = 0; axis < 2; axis++) {
        const unsigned length = (unsigned)(d.n[axis] + d.walls[axis]);
        const unsigned begin = block[axis] * length / blocks[axis], end = (block[axis] + 1) * length / blocks[axis];
        t.first[axis] = (int)begin - d.walls[axis];
        t.size[axis] = (int)(end - begin);
    }
    return t;
}

__device__ __forceinline__ bool is_at_walls(const domain &d, const tile &t)
{
    bool at = false;
    LM_UNROLL
    for (int axis = 0; axis < 2; axis++)
        at =
            at || (d.walls[axis] && (t.first[axis] < LM_GHOST || t.first[axis] + t.size[axis] + LM_GHOST >= d.n[axis]));
    return at;
}

template <class P, int TX, int TY, bool SHARED, bool COUNT>
__global__ void __launch_bounds__(THREADS, 4) evaluate_kernel(const __grid_constant__ domain d)
{
    static_assert(TX >= SMALLEST_TILE && TY >= SMALLEST_TILE, "smaller than what walls need");
    static_assert(P::reach < LM_GHOST, "from a node on a lower wall it would leave the array");
    extern __shared__ double pool[];
    constexpr int filled = SHARED ? P::buffers::count : 0;
    const tile t = tile_of(d);
    unsigned loads = 0;
    if (is_at_walls(d, t))
        evaluate_tile<P, TX, TY, filled, true, COUNT>(d, pool, t, loads);
    else
        evaluate_tile<P, TX, TY, filled, false, COUNT>(d, pool, t, loads);
    if (COUNT)
        atomicAdd(d.loads, (unsigned long long)loads);
}

} // namespace operators

#endif
