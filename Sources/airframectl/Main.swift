@main
struct Airframectl {
    static func main() {}
}
