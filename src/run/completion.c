/* The script that completes words in bash. Its lists come from the commands and from the table of keys. */
#include "run/completion.h"

#include <string.h>

#include "config/keys.h"

static const char script[] =
    "# What the choices of a key are, by section.key.\n"
    "_larmor_values()\n"
    "{\n"
    "    case \"$1\" in\n"
    "    --backend) echo \"auto cpu cuda\" ;;\n"
    "%VALUES%"
    "    esac\n"
    "}\n"
    "\n"
    "# The keys of the sections that each configuration has, and of the named sections of the file on the command "
    "line.\n"
    "_larmor_keys()\n"
    "{\n"
    "    local word section\n"
    "    echo \"%KEYS%\"\n"
    "    for word in \"${COMP_WORDS[@]}\"; do\n"
    "        [[ $word == *.ini && -f $word ]] || continue\n"
    "        while read -r section; do\n"
    "            case \"$section\" in\n"
    "%NAMED%"
    "            esac\n"
    "        done < <(sed -n 's/^\\[\\([a-z]*\\.[A-Za-z0-9_]*\\)\\].*/\\1/p' \"$word\")\n"
    "    done\n"
    "}\n"
    "\n"
    "_larmor()\n"
    "{\n"
    "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n"
    "    COMPREPLY=()\n"
    "    if [[ $COMP_CWORD == 1 ]]; then\n"
    "        COMPREPLY=($(compgen -W '%COMMANDS%' -- \"$word\"))\n"
    "        return\n"
    "    fi\n"
    "    # bash takes = for a word of its own\n"
    "    if [[ $word == = ]]; then\n"
    "        COMPREPLY=($(compgen -W \"$(_larmor_values \"$before\")\"))\n"
    "        return\n"
    "    elif [[ $before == = ]]; then\n"
    "        COMPREPLY=($(compgen -W \"$(_larmor_values \"${COMP_WORDS[COMP_CWORD-2]}\")\" -- \"$word\"))\n"
    "        return\n"
    "    fi\n"
    "    if [[ $word == -* ]]; then\n"
    "        case \"${COMP_WORDS[1]}\" in\n"
    "%OPTIONS%"
    "        esac\n"
    "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
    "        return\n"
    "    fi\n"
    "    if [[ $before == --backend ]]; then\n"
    "        COMPREPLY=($(compgen -W \"$(_larmor_values --backend)\" -- \"$word\"))\n"
    "        return\n"
    "    fi\n"
    "    case \"${COMP_WORDS[1]}\" in\n"
    "    run|scan|check) [[ -n $word ]] && words=$(compgen -S = -W \"$(_larmor_keys)\" -- \"$word\") ;;\n"
    "    esac\n"
    "    if [[ -n $words ]]; then\n"
    "        COMPREPLY=($words)\n"
    "        compopt -o nospace 2>/dev/null\n"
    "    else\n"
    "        # names of files may have blanks; a = in a key must stay as it is\n"
    "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
    "        compopt -o filenames 2>/dev/null\n"
    "    fi\n"
    "}\n"
    "complete -F _larmor larmor\n";

static void put_values(FILE *out)
{
    for (int k = 0; k < lm_key_count; k++) {
        const struct lm_key *key = &lm_keys[k];
        const struct lm_named *named = lm_named_of(key->section);
        if (!key->choices)
            continue;
        fprintf(out, "    %s%s.%s) echo \"", named ? named->kind : key->section, named ? ".*" : "", key->name);
        for (const struct lm_choice *c = key->choices; c->name; c++)
            fprintf(out, "%s%s", c == key->choices ? "" : " ", c->name);
        fputs("\" ;;\n", out);
    }
}

/* The keys of the sections without a name; with `named`, of one kind. */
static void put_keys(FILE *out, const struct lm_named *named)
{
    const char *between = "";
    for (int k = 0; k < lm_key_count; k++)
        if (lm_named_of(lm_keys[k].section) == named) {
            fprintf(out, "%s%s.%s", between, named ? "$section" : lm_keys[k].section, lm_keys[k].name);
            between = " ";
        }
}

static void put_named(FILE *out)
{
    for (int kind = 0; kind < LM_NAMED_KINDS; kind++) {
        fprintf(out, "            %s.*) echo \"", lm_named[kind].kind);
        put_keys(out, &lm_named[kind]);
        fputs("\" ;;\n", out);
    }
}

static void put_commands(FILE *out, const struct lm_command_words *commands, size_t count)
{
    for (size_t k = 0; k < count; k++)
        fprintf(out, "%s%s", k > 0 ? " " : "", commands[k].name);
}

static void put_options(FILE *out, const struct lm_command_words *commands, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        fprintf(out, "        %s) words=\"", commands[k].name);
        for (const struct option *o = commands[k].options; o->name; o++)
            fprintf(out, "%s--%s", o == commands[k].options ? "" : " ", o->name);
        fputs("\" ;;\n", out);
    }
}

static void put_list(FILE *out, const char *name, const struct lm_command_words *commands, size_t count)
{
    if (!strncmp(name, "VALUES", 6))
        put_values(out);
    else if (!strncmp(name, "KEYS", 4))
        put_keys(out, NULL);
    else if (!strncmp(name, "NAMED", 5))
        put_named(out);
    else if (!strncmp(name, "COMMANDS", 8))
        put_commands(out, commands, count);
    else
        put_options(out, commands, count);
}

void lm_completion_print(FILE *out, const struct lm_command_words *commands, size_t count)
{
    const char *at = script;
    for (const char *mark; (mark = strchr(at, '%')) != NULL; at = strchr(mark + 1, '%') + 1) {
        fwrite(at, 1, (size_t)(mark - at), out);
        put_list(out, mark + 1, commands, count);
    }
    fputs(at, out);
}
