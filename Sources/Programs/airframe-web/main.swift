import Web

WebProgram.main()
