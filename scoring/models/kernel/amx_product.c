/* Float32 matrix products on the tile units (AMX) of a processor, which multiply bfloat16 and add in float32.
 *
 * Every float32 is the sum of three bfloat16 numbers x = x1 + x2 + x3, each the remainder of those before rounded to
 * nearest, so a product is the sum of nine, and the six with i + j <= 4 are exact to some 2^-24: the error of float32
 * itself (Henry, Tang & Heinecke 2019, "Leveraging the bfloat16 Artificial Intelligence Datatype For Higher-Precision
 * Computations"). The products of two bfloat16 are exact in float32, and sums are made in float32 over BLOCK_STEPS * 32
 * inputs at a time, so that the result is nearer to the exact one than that of a usual float32 product.
 *
 * A tile has 16 rows of 64 bytes. A "step" is 32 inputs of 32 rows (or outputs) in their three parts: six tiles end to
 * end, first those of the first 16 rows. In tiles of weights, two inputs are side by side in each 4 bytes, outputs next
 * to each other and pairs of inputs below each other, as the tile unit needs them.
 *
 * A value depends only on its row of states and on the weights: not on the other rows, their number or the threads.
 */

#include <immintrin.h>
#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    TILE = 1024,           /* bytes */
    PARTS = 3,
    HALF = PARTS * TILE,   /* 16 rows of a step */
    STEP = 2 * HALF,
    BLOCK = 32,            /* rows, outputs and inputs of a step */
    CELLS = BLOCK * BLOCK, /* results of one block of rows and outputs */
    BLOCK_STEPS = 24,      /* a strip's states, split, stay in the cache of their core: 128 x 24 x 32 x 6 bytes */
    STRIP = 128,           /* rows that a thread takes at a time */
    TASKS = 8,             /* for each thread, at least, if there are enough columns */
    LEAST_BLOCKS = 8,      /* columns of a task: fewer would not be worth splitting the states again */
    GELU_PIECES = 32,
    GELU_TERMS = 5
};

static const float GELU_END = 6.0f; /* beyond it the normal distribution is 1 in float32 */

static long least(long one, long other) { return one < other ? one : other; }

static long blocks(long count) { return (count + BLOCK - 1) / BLOCK; }

static __mmask16 first(long count) { return count >= 16 ? 0xffff : count <= 0 ? 0 : (__mmask16)((1u << count) - 1); }

static __m512 widened(__m256i half) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16)); }

/* The three bfloat16 parts of up to 32 floats; the rest are zeros. */
static inline void split(const float *from, long count, __m512i parts[PARTS]) {
    __m512 low = _mm512_maskz_loadu_ps(first(count), from);
    __m512 high = _mm512_maskz_loadu_ps(first(count - 16), from + 16);
    for (int part = 0; part < PARTS; part++) {
        parts[part] = (__m512i)_mm512_cvtne2ps_pbh(high, low);
        low = _mm512_sub_ps(low, widened(_mm512_castsi512_si256(parts[part])));
        high = _mm512_sub_ps(high, widened(_mm512_extracti64x4_epi64(parts[part], 1)));
    }
}

/* Steps of `rows` rows of `count` floats each, `width` floats apart. */
static void split_rows(const float *from, long width, long rows, long count, char *to) {
    long steps = blocks(count);
    for (long top = 0; top < rows; top += BLOCK)
        for (long step = 0; step < steps; step++, to += STEP)
            for (long row = 0; row < BLOCK; row++) {
                __m512i parts[PARTS];
                split(from + (top + row) * width + step * BLOCK, top + row < rows ? count - step * BLOCK : 0, parts);
                for (int part = 0; part < PARTS; part++)
                    _mm512_store_si512(to + row / 16 * HALF + row % 16 * 64 + part * TILE, parts[part]);
            }
}

long weight_bytes(long outputs, long inputs) { return blocks(outputs) * blocks(inputs) * STEP; }

/* `weight` (outputs, inputs) as steps: all of the first 32 outputs, then of the next. `to` is aligned to 64 bytes. */
void split_weight(const float *weight, long outputs, long inputs, char *to, int threads) {
    long steps = blocks(inputs);
#pragma omp parallel for num_threads(threads)
    for (long output = 0; output < blocks(outputs) * BLOCK; output++) {
        for (long step = 0; step < steps; step++) {
            char *column = to + (output / BLOCK * steps + step) * STEP + output / 16 % 2 * HALF + output % 16 * 4;
            const float *from = weight + output * inputs + step * BLOCK;
            __m512i parts[PARTS];
            split(from, output < outputs ? inputs - step * BLOCK : 0, parts);
            for (int part = 0; part < PARTS; part++)
                for (int pair = 0; pair < 16; pair++)
                    memcpy(column + part * TILE + pair * 64, (char *)&parts[part] + pair * 4, 4);
        }
    }
}

/* Request the tile registers, which a process may not use without permission. Returns 0 if it may use them. */
int request_tiles(void) {
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
    return (int)syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA);
}

static void configure_tiles(void) {
    struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t bytes[16];
        uint8_t rows[16];
    } shape = {.palette = 1};
    for (int tile = 0; tile < 8; tile++) {
        shape.bytes[tile] = 64;
        shape.rows[tile] = 16;
    }
    _tile_loadconfig(&shape);
}

/* Tiles 0-3 are sums, 4 and 5 one part of the states, 6 and 7 one of the weights. */
#define LOAD(upper, lower, from, part)                         \
    do {                                                       \
        _tile_loadd(upper, (from) + (part) * TILE, 64);        \
        _tile_loadd(lower, (from) + HALF + (part) * TILE, 64); \
    } while (0)
#define MULTIPLY()               \
    do {                         \
        _tile_dpbf16ps(0, 4, 6); \
        _tile_dpbf16ps(1, 4, 7); \
        _tile_dpbf16ps(2, 5, 6); \
        _tile_dpbf16ps(3, 5, 7); \
    } while (0)

/* The 32 x 32 sums of products over `steps` steps. From one product to the next only one side is loaded. */
static void multiply(const char *states, const char *weight, long steps, float *sums) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (long step = 0; step < steps; step++, states += STEP, weight += STEP) {
        LOAD(4, 5, states, 0);
        LOAD(6, 7, weight, 2);
        MULTIPLY();
        LOAD(6, 7, weight, 1);
        MULTIPLY();
        LOAD(4, 5, states, 1);
        MULTIPLY();
        LOAD(6, 7, weight, 0);
        MULTIPLY();
        LOAD(4, 5, states, 2);
        MULTIPLY();
        LOAD(4, 5, states, 0);
        MULTIPLY();
    }
    _tile_stored(0, sums, BLOCK * 4);
    _tile_stored(1, sums + 16, BLOCK * 4);
    _tile_stored(2, sums + 16 * BLOCK, BLOCK * 4);
    _tile_stored(3, sums + 16 * BLOCK + 16, BLOCK * 4);
}

/* x * Phi(x), Phi the normal distribution: `terms` has polynomials of it over GELU_PIECES pieces of 0 to GELU_END. */
static inline __m512 gelu(__m512 x, const float *terms) {
    const __m512 end = _mm512_set1_ps(GELU_PIECES), one = _mm512_set1_ps(1);
    __m512 at = _mm512_mul_ps(_mm512_abs_ps(x), _mm512_set1_ps(GELU_PIECES / GELU_END));
    __mmask16 beyond = _mm512_cmp_ps_mask(at, end, _CMP_GE_OQ);
    __m512i piece = _mm512_cvttps_epi32(at);
    __m512 within = _mm512_sub_ps(at, _mm512_cvtepi32_ps(piece));
    __m512 phi = _mm512_setzero_ps();
    for (int term = 0; term < GELU_TERMS; term++, terms += GELU_PIECES)
        phi = _mm512_fmadd_ps(
            phi, within, _mm512_permutex2var_ps(_mm512_loadu_ps(terms), piece, _mm512_loadu_ps(terms + 16)));
    phi = _mm512_mask_mov_ps(phi, beyond, one);
    __mmask16 negative = _mm512_movepi32_mask(_mm512_castps_si512(x));
    return _mm512_mul_ps(x, _mm512_mask_sub_ps(phi, negative, one, phi));
}

typedef struct {
    const float *states; /* (rows, inputs) */
    const char *weight;  /* of split_weight */
    const float *bias;   /* (outputs,) */
    const float *before; /* (rows, outputs), added; or NULL */
    const float *terms;  /* (GELU_TERMS, GELU_PIECES), GELU is applied; or NULL */
    float *out;          /* (rows, outputs) */
    long rows, outputs, inputs;
} Product;

/* One block of results from its last sums and, if there are any, those of earlier inputs. */
static void finish(const Product *p, long row, long output, const float *sums, const float *earlier) {
    for (long r = 0; r < BLOCK && row + r < p->rows; r++) {
        for (long c = 0; c < BLOCK; c += 16) {
            __mmask16 there = first(p->outputs - output - c);
            long at = (row + r) * p->outputs + output + c;
            __m512 value = _mm512_load_ps(sums + r * BLOCK + c);
            if (earlier) value = _mm512_add_ps(value, _mm512_load_ps(earlier + r * BLOCK + c));
            value = _mm512_add_ps(value, _mm512_maskz_loadu_ps(there, p->bias + output + c));
            if (p->before) value = _mm512_add_ps(value, _mm512_maskz_loadu_ps(there, p->before + at));
            if (p->terms) value = gelu(value, p->terms);
            _mm512_mask_storeu_ps(p->out + at, there, value);
        }
    }
}

/* Rows `row` to `row_end` of the blocks of outputs `begin` to `end`. `states` and `sums` are working memory. */
static void strip(
    const Product *p, long row, long row_end, long begin, long end, long block_steps, char *states, float *sums) {
    float last[CELLS] __attribute__((aligned(64)));
    long steps = blocks(p->inputs);
    for (long from = 0; from < steps; from += block_steps) {
        long some = least(block_steps, steps - from);
        int ends = from + some == steps;
        split_rows(p->states + row * p->inputs + from * BLOCK, p->inputs, row_end - row,
                   least(some * BLOCK, p->inputs - from * BLOCK), states);
        float *earlier = sums;
        for (long output = begin; output < end; output++) {
            const char *weight = p->weight + (output * steps + from) * STEP;
            for (long r = row; r < row_end; r += BLOCK, earlier += CELLS) {
                multiply(states + (r - row) / BLOCK * some * STEP, weight, some, from == 0 && !ends ? earlier : last);
                if (ends)
                    finish(p, r, output * BLOCK, last, from == 0 ? NULL : earlier);
                else if (from > 0)
                    for (int cell = 0; cell < CELLS; cell += 16)
                        _mm512_store_ps(
                            earlier + cell, _mm512_add_ps(_mm512_load_ps(earlier + cell), _mm512_load_ps(last + cell)));
            }
        }
    }
}

/* states @ weight.T + bias, then + before, then GELU, if those are given. Returns 0, or 1 if there is no memory. */
int product(const float *states, const char *weight, const float *bias, const float *before, const float *terms,
            float *out, long rows, long outputs, long inputs, int threads) {
    const Product p = {states, weight, bias, before, terms, out, rows, outputs, inputs};
    long steps = blocks(inputs), columns = blocks(outputs);
    long times = (steps + BLOCK_STEPS - 1) / BLOCK_STEPS;
    long block_steps = (steps + times - 1) / times;
    long height = least(STRIP, blocks(rows) * BLOCK);
    long strips = (rows + height - 1) / height;
    long cuts = least((TASKS * threads + strips - 1) / strips, columns / LEAST_BLOCKS);
    long width = cuts > 1 ? (columns + cuts - 1) / cuts : columns;
    cuts = (columns + width - 1) / width;
    long state_bytes = height / BLOCK * block_steps * STEP;
    long room = state_bytes + (times > 1 ? height / BLOCK * width * CELLS * 4 : 0);
    char *memory = aligned_alloc(64, (size_t)(room * threads));
    if (!memory) return 1;
#pragma omp parallel num_threads(threads)
    {
        char *mine = memory + omp_get_thread_num() * room;
        configure_tiles();
#pragma omp for schedule(dynamic, 1)
        for (long task = 0; task < strips * cuts; task++) {
            long row = task / cuts * height, begin = task % cuts * width;
            strip(&p, row, least(rows, row + height), begin, least(columns, begin + width), block_steps, mine,
                  (float *)(mine + state_bytes));
        }
        _tile_release();
    }
    free(memory);
    return 0;
}
