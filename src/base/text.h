/* Names that a user may have meant: the distance between words, and the nearest of several. */
#ifndef LARMOR_BASE_TEXT_H
#define LARMOR_BASE_TEXT_H

/* Damerau-Levenshtein distance (insert, delete, replace, swap neighbours; restricted), upper and lower case alike.
 * Words longer than 63 bytes are at distance 99. */
int lm_text_distance(const char *a, const char *b);

/* Keeps in *best the candidate nearest to `word`, when nearer than *distance, which it updates. Start with
 * *best = NULL and *distance = lm_text_tolerance(word) + 1. */
void lm_text_nearer(const char *word, const char *candidate, const char **best, int *distance);

/* Largest distance at which a suggestion still makes sense: 2, less for words of one to three letters. */
int lm_text_tolerance(const char *word);

/* 1 when `name` matches [A-Za-z][A-Za-z0-9_]* and is shorter than LM_MAX_NAME. */
int lm_text_is_name(const char *name);

#endif
