/* CPU and GPU, bit for bit. Needs a GPU. Prints a line a case that can stand in golden.txt: with --write, only those.
 *
 * A program without Check: CUDA does not survive a fork, and the machine with the GPU may have no libraries. */
#include <time.h>

#include "../cases.h"

static int failures;

static void compare(const struct run_case *c, uint64_t want, const char *what, int count, const char *const *more)
{
    uint64_t print = case_run(c, count, more, NULL);
    int ok = print == want;
    failures += !ok;
    printf("%-28s %-34s %016llx %s\n", c->name, what, (unsigned long long)print, ok ? "equal" : "DIFFERENT");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int write = argc > 1 && !strcmp(argv[1], "--write"), fast = argc > 1 && !strcmp(argv[1], "--fast"), cases = 0;
    const char *cpu[] = {"run.backend=cpu"}, *gpu8[] = {"run.backend=cuda", "run.tile=8"};
    const char *gpu16[] = {"run.backend=cuda", "run.tile=16", "run.sort_every=3"};
    const char *gpu1000[] = {"run.backend=cuda", "run.tile=8", "run.sort_every=1000"};
    for (int k = 0; k < RUN_CASES; k++, cases++) {
        const struct run_case *c = &run_cases[k];
        uint64_t golden = golden_of(c->name);
        if (fast) { /* under a sanitizer */
            const char *few[] = {"run.backend=cuda", "run.tile=8", "run.steps=4"}, *same[] = {"run.backend=cpu", "run.steps=4"};
            compare(c, case_run(c, 2, same, NULL), "GPU, 4 steps", 3, few);
            continue;
        }
        uint64_t print = case_run(c, 1, cpu, NULL);
        if (write) {
            uint64_t other = case_run(c, 2, gpu8, NULL);
            if (other == print)
                printf("%s %016llx\n", c->name, (unsigned long long)print);
            failures += other != print;
            continue;
        }
        if (golden != print) {
            failures++;
            printf("%-28s CPU %016llx is not the golden %016llx\n", c->name, (unsigned long long)print, (unsigned long long)golden);
        }
        compare(c, print, "GPU, tile 8", 2, gpu8);
        compare(c, print, "GPU, tile 16, sorted every 3", 3, gpu16);
        compare(c, print, "GPU, tile 8, never sorted", 3, gpu1000);
    }
    if (!write)
        printf("%d cases, %d failures\n", cases, failures);
    return failures != 0;
}
