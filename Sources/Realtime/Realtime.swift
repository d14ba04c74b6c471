// Realtime
