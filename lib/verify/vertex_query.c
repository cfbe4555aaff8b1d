#include "lib/verify/vertex_query.h"

#include "lib/base/memory.h"
#include "lib/comm/large_alltoallv.h"
#include "lib/verify/bounded_exchange.h"

#include <stdlib.h>
#include <string.h>

/* What a round sends and receives. */
struct letters {
    char *question, *asked;  /* [sending], [receiving] */
    char *answer, *answered; /* [receiving], [sending] */
    hw_count *asker;         /* [sending] which question of the round it is */
};

hw_count hw_ask_bytes(size_t question, size_t answer, hw_count chunk)
{
    /* Sent with who asks and the rank it goes to, answered; twice as many
     * received, and answered. */
    return chunk * (hw_count)(question + answer + sizeof(hw_count) + sizeof(int)) +
           2 * chunk * (hw_count)(question + answer);
}

static void letters_free(struct letters *letters)
{
    free(letters->question);
    free(letters->asked);
    free(letters->answer);
    free(letters->answered);
    free(letters->asker);
}

static enum hw_status letters_alloc(const struct hw_ask *ask,
                                    const struct hw_bounded_exchange *round,
                                    struct letters *letters, struct hw_error *err)
{
    enum hw_status status =
        hw_alloc(&letters->question, round->sending, ask->question, "questions", err);

    if (status == HW_OK)
        status = hw_alloc(&letters->asked, round->receiving, ask->question, "questions", err);
    if (status == HW_OK && ask->answer > 0)
        status = hw_alloc(&letters->answer, round->receiving, ask->answer, "answers", err);
    if (status == HW_OK && ask->answer > 0)
        status = hw_alloc(&letters->answered, round->sending, ask->answer, "answers", err);
    if (status == HW_OK)
        status = hw_alloc(&letters->asker, round->sending, sizeof *letters->asker, "askers", err);
    return status;
}

/* Puts a round's questions, and who asks them, into the order they are sent in. */
static void order_questions(const struct hw_ask *ask, const struct hw_bounded_exchange *round,
                            const char *question, struct letters *letters)
{
    int threads = ask->ctx->threads;

#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int t = 0; t < threads; t++) {
        hw_count begin, end, *place = round->place + (hw_count)t * ask->ctx->size;
        hw_thread_share(round->length, t, threads, &begin, &end);
        for (hw_count i = begin; i < end; i++) {
            hw_count at = place[round->owner[i]]++;
            memcpy(letters->question + (size_t)at * ask->question,
                   question + (size_t)i * ask->question, ask->question);
            letters->asker[at] = i;
        }
    }
}

/* Hands the answers to those who asked. */
static void deliver(const struct hw_ask *ask, const struct hw_bounded_exchange *round,
                    const struct letters *letters, char *answer)
{
#pragma omp parallel for schedule(static) num_threads(ask->ctx->threads)
    for (hw_count i = 0; i < round->sending; i++)
        memcpy(answer + (size_t)letters->asker[i] * ask->answer,
               letters->answered + (size_t)i * ask->answer, ask->answer);
}

/* Asks a round's questions. Collective. */
static enum hw_status ask_round(const struct hw_ask *ask, struct hw_bounded_exchange *round,
                                const char *question, char *answer, struct hw_error *err)
{
    MPI_Comm world = ask->ctx->world;
    struct letters letters = {0};
    enum hw_status status = hw_agree(world, letters_alloc(ask, round, &letters, err), err);

    if (status == HW_OK) {
        order_questions(ask, round, question, &letters);
        status = hw_exchange_into(world, ask->question, letters.question, round->send,
                                  letters.asked, round->receive, err);
    }
    if (status == HW_OK)
        ask->reply(ask->self, letters.asked, round->receiving, letters.answer);
    if (status == HW_OK && ask->answer > 0) {
        status = hw_exchange_into(world, ask->answer, letters.answer, round->receive,
                                  letters.answered, round->send, err);
        if (status == HW_OK)
            deliver(ask, round, &letters, answer);
    }
    letters_free(&letters);
    return status;
}

enum hw_status hw_ask(const struct hw_ask *ask, enum hw_status status, hw_count count,
                      const void *question, void *answer, struct hw_error *err)
{
    const struct hw_items items = {.count = count,
                                   .id = question,
                                   .stride = (hw_count)(ask->question / sizeof(hw_gid)),
                                   .limit = 2 * ask->chunk};
    struct hw_bounded_exchange round = {.step = ask->chunk};

    if (ask->ctx->size == 1) {
        if (status == HW_OK)
            ask->reply(ask->self, question, count, answer);
        return status;
    }
    do {
        status = hw_bounded_exchange_next(ask->ctx, ask->slices, status, &items, &round, err);
        if (status != HW_OK)
            break;
        const char *questions = question;
        char *answers = answer;
        if (round.length > 0) {
            questions += (size_t)round.at * ask->question;
            answers += ask->answer > 0 ? (size_t)round.at * ask->answer : 0;
        }
        status = ask_round(ask, &round, questions, answers, err);
    } while (status == HW_OK && round.more);
    hw_bounded_exchange_end(&round);
    return status;
}
