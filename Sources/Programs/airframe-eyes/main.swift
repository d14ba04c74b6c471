import Eyes

EyesProgram.main()
