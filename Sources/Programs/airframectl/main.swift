import airframectl

ControlProgram.main()
