#include "base/provenance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *texts[LM_PROVENANCES];

void lm_provenance_set(enum lm_provenance what, const char *text)
{
    char *copy = text ? strdup(text) : NULL;
    free(texts[what]);
    texts[what] = copy;
}

const char *lm_provenance_get(enum lm_provenance what)
{
    return texts[what];
}

/* Words with other characters than these stand in quotes, so that a shell would read them as one word. */
static int is_plain(const char *word)
{
    return *word && !word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+./,:=@%")];
}

static void put_word(FILE *out, const char *word)
{
    if (is_plain(word)) {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word; word++)
        fputs(*word == '\'' ? "'\\''" : (char[]){*word, 0}, out);
    fputc('\'', out);
}

void lm_provenance_set_command(int argc, char **argv)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return;
    for (int k = 0; k < argc; k++) {
        if (k > 0)
            fputc(' ', out);
        put_word(out, argv[k]);
    }
    fclose(out);
    lm_provenance_set(LM_COMMAND, text);
    free(text);
}
