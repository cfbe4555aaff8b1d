/*
 * The frontier of method `delegates`, and the counts of the vertices that are
 * not visited yet, from which directions are chosen.
 */
#include "lib/engine/bfs_delegates/delegates_state.h"

void hw_delegates_count_normals(struct hw_delegates *e, const struct hw_tally *tally)
{
    e->normal.frontier_count = tally->found;
    e->graph.sub[HW_ND].frontier_out = tally->found_nd_out;
    e->graph.sub[HW_ND].unvisited_out -= tally->found_nd_out;
    e->graph.sub[HW_DN].unvisited_in -= tally->found_dn_in;
}

void hw_delegates_forget(struct hw_delegates *e)
{
    for (int k = 0; k < HW_DELEGATES_KINDS; k++) {
        e->graph.sub[k].unvisited_in = e->graph.sub[k].all_in;
        e->graph.sub[k].unvisited_out = e->graph.sub[k].all_out;
        e->graph.sub[k].frontier_out = 0;
        e->graph.sub[k].direction = HW_DIRECTION_TOP_DOWN;
        e->graph.sub[k].visited = false;
    }
}

/* The counts of some new delegates, by subgraph. */
struct admitted {
    hw_count all, owned, dd_in, dd_out, dn_out;
};

/* Counts the delegates of words [from, to) of `found`. */
static struct admitted count_found(const struct hw_delegates *e, size_t from, size_t to)
{
    struct admitted sum = {0};

    for (size_t w = from; w < to; w++) {
        uint64_t found = e->delegate.reached[w];
        if (!found)
            continue;
        sum.all += __builtin_popcountll(found);
        sum.owned += __builtin_popcountll(found & e->graph.owned[w]);
        sum.dd_in += __builtin_popcountll(found & e->graph.sub[HW_DD].has_in[w]);
        sum.dd_out += __builtin_popcountll(found & e->graph.sub[HW_DD].has_out[w]);
        sum.dn_out += __builtin_popcountll(found & e->graph.sub[HW_DN].has_out[w]);
    }
    return sum;
}

/* Moves the delegates of words [from, to) into the frontier, from frontier[at] on. */
static void move_found(struct hw_delegates *e, size_t from, size_t to, hw_count at, int32_t level)
{
    for (size_t w = from; w < to; w++) {
        for (uint64_t found = e->delegate.reached[w]; found; found &= found - 1) {
            hw_lid g = (hw_lid)(w * 64 + (size_t)__builtin_ctzll(found));
            e->delegate.level[g] = level;
            e->delegate.frontier[at++] = g;
        }
        e->delegate.visited[w] |= e->delegate.reached[w];
        e->delegate.reached[w] = 0;
    }
}

/* nd's unvisited delegates, counted afresh: its visits have only counted out
 * what was found here. */
static hw_count count_unvisited_nd(const struct hw_delegates *e)
{
    hw_count left = 0;

    for (size_t w = 0; w < hw_words(e->layout.delegates); w++) {
        uint64_t word = e->graph.sub[HW_ND].has_in[w] & ~e->delegate.visited[w];
        if (word)
            left += __builtin_popcountll(word);
    }
    return left;
}

/* Moves all delegates of `found` into the frontier, word by word. */
static struct admitted admit_words(struct hw_delegates *e, int32_t level)
{
    size_t words = hw_words(e->layout.delegates);
    int blocks = words > HW_SERIAL_WORDS ? e->threads : 1;
    struct admitted sum = {0};

#pragma omp parallel for schedule(static, 1) if (blocks > 1)
    for (int b = 0; b < blocks; b++) {
        struct admitted mine = count_found(e, words * (size_t)b / (size_t)blocks,
                                           words * ((size_t)b + 1) / (size_t)blocks);
        e->scratch.block_count[b] = mine.all;
#pragma omp critical(hw_delegates_admitted)
        {
            sum.owned += mine.owned;
            sum.dd_in += mine.dd_in;
            sum.dd_out += mine.dd_out;
            sum.dn_out += mine.dn_out;
        }
    }
    for (int b = 0; b < blocks; b++) {
        hw_count mine = e->scratch.block_count[b];
        e->scratch.block_count[b] = sum.all;
        sum.all += mine;
    }
#pragma omp parallel for schedule(static, 1) if (blocks > 1)
    for (int b = 0; b < blocks; b++)
        move_found(e, words * (size_t)b / (size_t)blocks, words * ((size_t)b + 1) / (size_t)blocks,
                   e->scratch.block_count[b], level);
    e->graph.sub[HW_ND].unvisited_in = count_unvisited_nd(e);
    return sum;
}

/* Moves the listed delegates into the frontier. */
static struct admitted admit_list(struct hw_delegates *e, int32_t level)
{
    struct admitted sum = {.all = e->delegate.next_count, .owned = e->delegate.next_count};
    hw_lid *list = e->delegate.next_frontier;

    for (hw_count i = 0; i < e->delegate.next_count; i++) {
        hw_lid g = list[i];
        e->delegate.level[g] = level;
        hw_bit_set(e->delegate.visited, g);
        e->delegate.reached[g >> 6] = 0;
        sum.dd_in += hw_bit(e->graph.sub[HW_DD].has_in, g);
        sum.dd_out += hw_bit(e->graph.sub[HW_DD].has_out, g);
        sum.dn_out += hw_bit(e->graph.sub[HW_DN].has_out, g);
    }
    e->delegate.next_frontier = e->delegate.frontier;
    e->delegate.frontier = list;
    return sum;
}

void hw_delegates_admit(struct hw_delegates *e, hw_count found, int32_t level)
{
    struct admitted sum = {0};
    /* With one part a list may hold all that was found. A search of many small
     * steps must not look at the whole mask in each. */
    bool listed = e->ctx.size == 1 && found == e->delegate.next_count &&
                  (size_t)found < hw_words(e->layout.delegates) / 4;

    if (found > 0)
        sum = listed ? admit_list(e, level) : admit_words(e, level);
    e->delegate.next_count = 0;
    e->delegate.frontier_count = sum.all;
    e->delegate.owned_frontier = sum.owned;
    e->graph.sub[HW_DD].unvisited_in -= sum.dd_in;
    e->graph.sub[HW_DD].unvisited_out -= sum.dd_out;
    e->graph.sub[HW_DD].frontier_out = sum.dd_out;
    e->graph.sub[HW_DN].unvisited_out -= sum.dn_out;
    e->graph.sub[HW_DN].frontier_out = sum.dn_out;
}
