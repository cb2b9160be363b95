/* Suggestions for misspelt names: the distance between two words, and the nearest of several words. */
#ifndef LARMOR_BASE_TEXT_H
#define LARMOR_BASE_TEXT_H

#include <stddef.h>

/* The restricted Damerau-Levenshtein distance: insertions, deletions, replacements and swaps of neighbours. Upper and
 * lower case are the same. Words longer than 63 bytes have the distance 99. */
int lm_text_distance(const char *a, const char *b);

/* Where `candidate` is nearer to `word` than *distance, it becomes *best, and *distance is updated. Begin with
 * *best = NULL and *distance = lm_text_tolerance(word) + 1. */
void lm_text_nearer(const char *word, const char *candidate, const char **best, int *distance);

/* The largest distance at which a suggestion makes sense: 2, 1 for words of two or three letters, and 0 for a single
 * letter, which may have the wrong case. */
int lm_text_tolerance(const char *word);

/* 1 when `name` matches [A-Za-z][A-Za-z0-9_]* and is shorter than LM_MAX_NAME. */
int lm_text_is_name(const char *name);

/* The length of the first item of a list: up to a comma outside of parentheses, or to the end. */
size_t lm_text_item(const char *text);

/* How often the word `name` stands in `text`, with no letter, digit or _ before and after it. */
int lm_text_mentions(const char *text, const char *name);

#endif
