/*
 * The arithmetic of distances, written once for all types of weights.
 *
 * Every function takes the kind as a constant and is inlined, so that a loop
 * calls it as if it were made for that kind. Distances are carried as keys:
 * signed integers in the order of the distances. Of integer weights the key is
 * the distance; of floats it is the bits of the float, with those of a negative
 * one turned around, so that sums round as floats do.
 *
 * The table of the best distances known holds a distance and a parent for each
 * vertex, which change together and only when the distance becomes strictly
 * less. Parents so recorded are tight in the end, and lead to the root: whatever
 * the order of work, none closes a cycle unless its weight is negative, not even
 * where weights are zero or vanish in rounding.
 */
#ifndef HOPWAVE_ENGINE_SSSP_DISTANCE_H
#define HOPWAVE_ENGINE_SSSP_DISTANCE_H

#include "lib/base/types.h"

#include <math.h>
#include <string.h>

/* What distances are made of. */
enum hw_distance {
    HW_DISTANCE_F32, /* float weights: sums rounded to float */
    HW_DISTANCE_I32, /* integer weights whose sums stay within 32 bits */
    HW_DISTANCE_I64  /* integer weights */
};

#define HW_ALWAYS_INLINE static inline __attribute__((always_inline))

/* The kind for weights whose sums stay within [-most, most]. Local. */
static inline enum hw_distance hw_distance_kind(enum hw_weights weights, double max)
{
    if (weights == HW_WEIGHTS_F32)
        return HW_DISTANCE_F32;
    return max < INT32_MAX ? HW_DISTANCE_I32 : HW_DISTANCE_I64;
}

/* Of floats: the bits as a key, and back. */
HW_ALWAYS_INLINE int64_t hw_distance_key_f32(float value)
{
    int32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits ^ (bits >> 31 & INT32_MAX);
}

HW_ALWAYS_INLINE float hw_distance_f32(int64_t key)
{
    int32_t bits = (int32_t)key ^ ((int32_t)key >> 31 & INT32_MAX);
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The key of what is unreached; above all others. */
HW_ALWAYS_INLINE int64_t hw_distance_none(enum hw_distance kind)
{
    if (kind == HW_DISTANCE_F32)
        return 0x7f800000; /* infinity */
    return kind == HW_DISTANCE_I32 ? INT32_MAX : INT64_MAX;
}

/* The key of the distance at the end of an edge, from a reached vertex. A sum of
 * floats too large for them comes out as unreached. */
HW_ALWAYS_INLINE int64_t hw_distance_add(enum hw_distance kind, int64_t key, union hw_weight weight)
{
    if (kind == HW_DISTANCE_F32)
        return hw_distance_key_f32(hw_distance_f32(key) + weight.f32);
    return key + weight.i32;
}

/* The key of a weight alone. */
HW_ALWAYS_INLINE int64_t hw_distance_weight(enum hw_distance kind, union hw_weight weight)
{
    return kind == HW_DISTANCE_F32 ? hw_distance_key_f32(weight.f32) : weight.i32;
}

/* A key as a number, and the greatest key that is no more than a number (at
 * least the one below unreached, for any larger number). */
static inline double hw_distance_real(enum hw_distance kind, int64_t key)
{
    return kind == HW_DISTANCE_F32 ? (double)hw_distance_f32(key) : (double)key;
}

static inline int64_t hw_distance_bound(enum hw_distance kind, double value)
{
    int64_t max = hw_distance_none(kind) - 1;

    if (value >= hw_distance_real(kind, max))
        return max;
    if (kind != HW_DISTANCE_F32)
        return (int64_t)floor(value);
    int64_t key = hw_distance_key_f32((float)value);
    return (double)hw_distance_f32(key) > value ? key - 1 : key;
}

/* An entry of the table under 64-bit distances. The others take one word: the
 * key above, the parent below. */
struct hw_best_wide {
    int64_t key;
    uint32_t parent;
    uint32_t busy; /* a thread is changing it */
};

/* Bytes of an entry. */
HW_ALWAYS_INLINE size_t hw_best_size(enum hw_distance kind)
{
    return kind == HW_DISTANCE_I64 ? sizeof(struct hw_best_wide) : sizeof(int64_t);
}

/* The distance and the parent of entry v, while other threads may change it. */
HW_ALWAYS_INLINE int64_t hw_best_key(enum hw_distance kind, const void *table, size_t v)
{
    if (kind == HW_DISTANCE_I64)
        return __atomic_load_n(&((const struct hw_best_wide *)table)[v].key, __ATOMIC_RELAXED);
    return __atomic_load_n((const int64_t *)table + v, __ATOMIC_RELAXED) >> 32;
}

HW_ALWAYS_INLINE uint32_t hw_best_parent(enum hw_distance kind, const void *table, size_t v)
{
    if (kind == HW_DISTANCE_I64)
        return ((const struct hw_best_wide *)table)[v].parent;
    return (uint32_t)((const int64_t *)table)[v];
}

HW_ALWAYS_INLINE void hw_best_prefetch(enum hw_distance kind, const void *table, size_t v)
{
    __builtin_prefetch((const char *)table + v * hw_best_size(kind));
}

/* Sets entry v whatever it was; no other thread may look. */
HW_ALWAYS_INLINE void hw_best_set(enum hw_distance kind, void *table, size_t v, int64_t key,
                                  uint32_t parent)
{
    if (kind == HW_DISTANCE_I64)
        ((struct hw_best_wide *)table)[v] = (struct hw_best_wide){.key = key, .parent = parent};
    else
        ((int64_t *)table)[v] = (int64_t)((uint64_t)key << 32 | parent);
}

/* hw_best_improve() of 64-bit distances among other threads: under a lock of the
 * entry's own. */
HW_ALWAYS_INLINE bool hw_best_improve_wide(struct hw_best_wide *entry, int64_t key, uint32_t parent)
{
    while (key < __atomic_load_n(&entry->key, __ATOMIC_RELAXED)) {
        if (__atomic_exchange_n(&entry->busy, 1, __ATOMIC_ACQUIRE))
            continue;
        bool better = key < entry->key;
        if (better) {
            entry->parent = parent;
            __atomic_store_n(&entry->key, key, __ATOMIC_SEQ_CST);
        }
        __atomic_store_n(&entry->busy, 0, __ATOMIC_RELEASE);
        return better;
    }
    return false;
}

/*
 * Gives entry v this distance and parent if the distance is less than what it
 * has; returns whether. shared (a constant): do other threads change it, too?
 * Then the change is in one order with all others that are so ordered (SEQ_CST).
 */
HW_ALWAYS_INLINE bool hw_best_improve(enum hw_distance kind, bool shared, void *table, size_t v,
                                      int64_t key, uint32_t parent)
{
    if (kind == HW_DISTANCE_I64 && shared)
        return hw_best_improve_wide((struct hw_best_wide *)table + v, key, parent);
    if (!shared) {
        bool better = key < hw_best_key(kind, table, v);
        if (better)
            hw_best_set(kind, table, v, key, parent);
        return better;
    }
    int64_t *entry = (int64_t *)table + v, was = __atomic_load_n(entry, __ATOMIC_RELAXED);
    int64_t word = (int64_t)((uint64_t)key << 32 | parent);
    while (key < was >> 32)
        if (__atomic_compare_exchange_n(entry, &was, word, true, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED))
            return true;
    return false;
}

#endif
