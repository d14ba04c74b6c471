import airframed

await DaemonProgram.main()
