@main
struct Airframed {
    static func main() {}
}
