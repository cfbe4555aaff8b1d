/* The nearest word of a list to one that was mistyped. */
#ifndef HOPWAVE_BASE_NEAREST_WORD_H
#define HOPWAVE_BASE_NEAREST_WORD_H

/*
 * The first word of a NULL-ended list that is nearest to `word` by edit distance (insertions,
 * deletions, substitutions and transpositions of neighboring characters), or begins with it or is
 * its beginning; NULL if none is near enough to be meant. Local.
 */
const char *hw_nearest_word(const char *word, const char *const *list);

#endif
