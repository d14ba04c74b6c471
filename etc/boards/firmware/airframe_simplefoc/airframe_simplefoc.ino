// Motor board for airframe: three gimbal motors with SimpleFOC, on a UART or USB.
//
// Set-up: install the library "Simple FOC" in the Arduino IDE, copy airframe_board.h into this folder, and set the values below. The
// protocol is in airframe_board.h; etc/manual/motor-board.md describes it. This sketch has not been run on a board yet.
//
// The motors have no current control: the voltage of each motor is computed from torque, resistance, torque per ampere and rate, and
// corrected by the measured supply.
#include <SimpleFOC.h>

#include "airframe_board.h"

// ---- values of your gimbal, in the order yaw, roll, pitch

const int POLE_PAIRS[3] = {11, 11, 11};
const float RESISTANCE[3] = {5.6f, 5.6f, 5.6f};        // ohm, between two phases divided by two
const float TORQUE_PER_AMP[3] = {0.10f, 0.10f, 0.10f};  // N·m/A: 60 / (2 pi KV), KV in turns per minute and volt
const float CURRENT_LIMIT = 1.0f;                       // A
const float SUPPLY = 12.0f;                             // V, for which the drivers are set up
const float SUPPLY_MIN = 9.0f, SUPPLY_MAX = 14.0f;      // V, beyond which the board reports a fault
const int SUPPLY_PIN = -1;                              // analogue input of the divider; -1 = not measured
const float SUPPLY_FACTOR = 3.3f / 4095 * 11;           // V for each step of the converter, divider 100 k and 10 k

BLDCMotor motors[3] = {BLDCMotor(POLE_PAIRS[0]), BLDCMotor(POLE_PAIRS[1]), BLDCMotor(POLE_PAIRS[2])};
BLDCDriver3PWM drivers[3] = {
    BLDCDriver3PWM(1, 2, 3, 4), BLDCDriver3PWM(5, 6, 7, 8), BLDCDriver3PWM(9, 10, 11, 12)};
MagneticSensorSPI encoders[3] = {
    MagneticSensorSPI(AS5047_SPI, 13), MagneticSensorSPI(AS5047_SPI, 14), MagneticSensorSPI(AS5047_SPI, 15)};
#define LINE Serial1
const long BAUD = 921600;

// Alignment of encoder and motor. First upload the sketch with ALIGN = true and without the camera: each motor turns by one pole pair and
// back, and the values appear on the USB port (115200 bit/s). Enter the values and upload the sketch with ALIGN = false. Then the sketch
// turns no motor before airframed turns the motors on.
const bool ALIGN = false;
const float ZERO_ELECTRIC_ANGLE[3] = {NOT_SET, NOT_SET, NOT_SET};  // rad
const Direction SENSOR_DIRECTION[3] = {Direction::UNKNOWN, Direction::UNKNOWN, Direction::UNKNOWN};

// ---- program

airframe::Board board;
float supply = 0;
bool areOn = false;

bool isAligned(int i) {
    return motors[i].sensor_direction != Direction::UNKNOWN && motors[i].zero_electric_angle != NOT_SET;
}

void setup() {
    if (ALIGN) Serial.begin(115200);
    LINE.begin(BAUD);
    for (int i = 0; i < 3; i++) {
        encoders[i].init();
        motors[i].linkSensor(&encoders[i]);
        drivers[i].voltage_power_supply = SUPPLY;
        drivers[i].init();
        motors[i].linkDriver(&drivers[i]);
        motors[i].controller = MotionControlType::torque;
        motors[i].torque_controller = TorqueControlType::voltage;
        motors[i].voltage_limit = SUPPLY;
        // init() applies 0 V for half a second, and initFOC() turns the motor only if a value of the alignment is unknown.
        motors[i].init();
        if (!ALIGN) {
            motors[i].zero_electric_angle = ZERO_ELECTRIC_ANGLE[i];
            motors[i].sensor_direction = SENSOR_DIRECTION[i];
        }
        if (ALIGN || isAligned(i)) motors[i].initFOC();
        motors[i].disable();
        if (!ALIGN) continue;
        Serial.print(i == 0 ? "yaw " : i == 1 ? "roll " : "pitch ");
        if (!isAligned(i)) {
            Serial.println("not aligned: check the wires, the supply and the pole pairs");
            continue;
        }
        Serial.print("ZERO_ELECTRIC_ANGLE ");
        Serial.print(motors[i].zero_electric_angle, 4);
        Serial.println(motors[i].sensor_direction == Direction::CW ? " Direction::CW" : " Direction::CCW");
    }
}

uint16_t faults() {
    uint16_t found = 0;
    if (SUPPLY_PIN >= 0 && (supply < SUPPLY_MIN || supply > SUPPLY_MAX)) found |= airframe::faultSupply;
    for (int i = 0; i < 3; i++)
        if (!isAligned(i) || motors[i].motor_status == FOCMotorStatus::motor_calib_failed) found |= airframe::motorFault(i, airframe::faultEncoder);
    return found;
}

// Current that flows at a voltage, A.
float currentOf(int i, float voltage) {
    return (voltage - TORQUE_PER_AMP[i] * motors[i].shaft_velocity) / RESISTANCE[i];
}

void loop() {
    if (ALIGN) return;
    if (SUPPLY_PIN >= 0) supply += 0.01f * (analogRead(SUPPLY_PIN) * SUPPLY_FACTOR - supply);
    bool wanted = board.step(faults(), micros());
    if (wanted != areOn) {
        areOn = wanted;
        for (int i = 0; i < 3; i++) wanted ? motors[i].enable() : motors[i].disable();
    }
    float current[3];
    for (int i = 0; i < 3; i++) {
        motors[i].loopFOC();
        float limit = CURRENT_LIMIT * TORQUE_PER_AMP[i];
        float torque = _constrain(board.torque(i), -limit, limit);
        float voltage = airframe::Board::voltage(torque, motors[i].shaft_velocity, TORQUE_PER_AMP[i], RESISTANCE[i]);
        motors[i].move(areOn ? voltage * airframe::Board::supplyFactor(SUPPLY, supply) : 0);
        current[i] = areOn ? currentOf(i, voltage) : 0;
    }
    while (LINE.available()) {
        if (!board.receive((uint8_t)LINE.read(), micros())) continue;
        airframe::Report report;
        for (int i = 0; i < 3; i++) {
            report.angle[i] = motors[i].shaft_angle;
            report.rate[i] = motors[i].shaft_velocity;
            report.current[i] = current[i];
        }
        report.supply = supply;
        report.faults = faults();
        uint8_t frame[airframe::Board::reportSize];
        LINE.write(frame, board.compose(report, frame));
    }
}
