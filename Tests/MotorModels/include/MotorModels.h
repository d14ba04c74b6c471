// Models of servos and of a motor board at the far end of a serial line: bytes in, bytes out. Each call takes the time, ns.
#ifndef MOTORMODELS_H
#define MOTORMODELS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum mm_kind { MM_FEETECH, MM_DYNAMIXEL, MM_BOARD };

/// One servo, or one motor of the board.
struct mm_motor {
    int id;
    double angle, rate;      // of the encoder, rad and rad/s; the owner of the model sets them, or `mm_move`
    double goal;             // rad, of a position servo
    double torque;           // N·m or A, of the others
    int is_on, is_silent;
    int fault;               // bits of the protocol
    double voltage, temperature;
    int64_t goals, off_at;   // number of goals; time at which the motor went off
    int64_t restart_end;     // time at which a servo that restarts replies again; 0 if it does not restart
};

struct mm_model {
    enum mm_kind kind;
    int count;
    struct mm_motor motors[3];
    int echoes;              // the adapter returns every byte that it sends
    double damaged;          // fraction of the bytes to airframed that are changed
    double damaged_commands; // fraction of the bytes from airframed that are changed; an echo is that of the unchanged bytes
    int board_fault;         // faults that the board reports
    double restart_seconds;  // time in which a Dynamixel servo does not reply after a reboot
    uint32_t seed;
    int64_t requests, damaged_bytes, damaged_command_bytes, last_request, sent_bytes, received_bytes;
    uint8_t memory[3][256];  // control tables of the servos
    uint8_t in[512], out[1024];
    int in_count, out_count;
    void *board;
};

/// Opens a pseudoterminal, and writes the name of its near end to `path`; returns the descriptor of the far end, or -1.
int mm_open_line(char *path, int capacity);

/// Prepares a model of the servos 1, 2, 3 (`count` of them), or of a board.
void mm_begin(struct mm_model *model, enum mm_kind kind, int count);

/// Frees what `mm_begin` has allocated.
void mm_end(struct mm_model *model);

/// Takes bytes that airframed has sent. The answers are in `out` afterwards.
void mm_receive(struct mm_model *model, const uint8_t *bytes, int count, int64_t now);

/// Moves the bytes of the answers to `bytes`, damaged as `damaged` says; returns their number.
int mm_send(struct mm_model *model, uint8_t *bytes, int capacity);

/// Position servos follow their goal for `dt` seconds, with a lag of 20 ms and 6 rad/s at most; watchdogs and dead-men act.
void mm_move(struct mm_model *model, double dt, int64_t now);

#ifdef __cplusplus
}
#endif

#endif
