#include "base/text.h"

#include <ctype.h>
#include <string.h>

#include "larmor/base.h"

enum { LONGEST = 63, FAR = 99 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

int lm_text_distance(const char *a, const char *b)
{
    int na = (int)strnlen(a, LONGEST + 1), nb = (int)strnlen(b, LONGEST + 1);
    if (na > LONGEST || nb > LONGEST)
        return FAR;
    int d[LONGEST + 1][LONGEST + 1];
    for (int i = 0; i <= na; i++)
        d[i][0] = i;
    for (int j = 0; j <= nb; j++)
        d[0][j] = j;
    for (int i = 1; i <= na; i++)
        for (int j = 1; j <= nb; j++) {
            int replace = d[i - 1][j - 1] + !same(a[i - 1], b[j - 1]);
            d[i][j] = least(replace, least(d[i - 1][j], d[i][j - 1]) + 1);
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[na][nb];
}

void lm_text_nearer(const char *word, const char *candidate, const char **best, int *distance)
{
    int d = lm_text_distance(word, candidate);
    if (d < *distance) {
        *best = candidate;
        *distance = d;
    }
}

int lm_text_tolerance(const char *word)
{
    const size_t n = strnlen(word, 4);
    return n > 3 ? 2 : n > 1;
}

int lm_text_is_name(const char *name)
{
    if (!((*name >= 'A' && *name <= 'Z') || (*name >= 'a' && *name <= 'z')))
        return 0;
    size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
    return n < LM_MAX_NAME && name[n] == 0;
}

static int is_in_word(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

int lm_text_mentions(const char *text, const char *name)
{
    const size_t n = strlen(name);
    int count = 0;
    for (const char *at = strstr(text, name); at; at = strstr(at + 1, name))
        count += (at == text || !is_in_word(at[-1])) && !is_in_word(at[n]);
    return count;
}

size_t lm_text_item(const char *text)
{
    int depth = 0;
    size_t n = 0;
    for (; text[n] && (text[n] != ',' || depth > 0); n++)
        depth += text[n] == '(' ? 1 : text[n] == ')' ? -1 : 0;
    return n;
}
