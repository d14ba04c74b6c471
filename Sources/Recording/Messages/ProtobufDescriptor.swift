/// Writer of a message's description as a FileDescriptorSet, from which any program can decode the
/// message.
///
/// Source: google/protobuf/descriptor.proto.
struct ProtobufDescriptor: FieldVisitor {
    /// Name of the package that contains all types.
    static let package = "airframe"

    private var fields: [UInt8] = []
    private var enumerations: [UInt8] = []

    /// Create the description of a message type.
    static func fileSet<Message: RecordedMessage>(of type: Message.Type) -> [UInt8] {
        var visitor = ProtobufDescriptor()
        var message = Message()
        message.visit(&visitor)
        var descriptor: [UInt8] = []
        descriptor.appendBlock(1, Array(Message.name.utf8))
        descriptor += visitor.fields
        descriptor += visitor.enumerations
        var file: [UInt8] = []
        file.appendBlock(1, Array("airframe/\(Message.name).proto".utf8))
        file.appendBlock(2, Array(package.utf8))
        file.appendBlock(4, descriptor)
        file.appendBlock(12, Array("proto3".utf8))
        var set: [UInt8] = []
        set.appendBlock(1, file)
        return set
    }

    /// Numbers of the types in descriptor.proto.
    private enum Kind: Int {
        case double = 1
        case float = 2
        case fixed64 = 6
        case bool = 8
        case string = 9
        case bytes = 12
        case uint32 = 13
        case enumeration = 14
        case sfixed64 = 16
    }

    private mutating func field(
        _ name: FieldName, _ number: Int, _ kind: Kind, typeName: String? = nil
    ) {
        var field: [UInt8] = []
        field.appendBlock(1, Array(name.text.utf8))
        field.appendNumber(3, number)
        // The label of the field is "optional" (1). In version 3 of Protocol Buffers, every field
        // except lists has this label.
        field.appendNumber(4, 1)
        field.appendNumber(5, kind.rawValue)
        if let typeName { field.appendBlock(6, Array(typeName.utf8)) }
        fields.appendBlock(2, field)
    }

    mutating func double(_ name: FieldName, _ number: Int, _ value: inout Double) {
        field(name, number, .double)
    }

    mutating func float(_ name: FieldName, _ number: Int, _ value: inout Float) {
        field(name, number, .float)
    }

    mutating func integer(_ name: FieldName, _ number: Int, _ value: inout Int64) {
        field(name, number, .sfixed64)
    }

    mutating func bits(_ name: FieldName, _ number: Int, _ value: inout UInt64) {
        field(name, number, .fixed64)
    }

    mutating func count(_ name: FieldName, _ number: Int, _ value: inout UInt32) {
        field(name, number, .uint32)
    }

    mutating func flag(_ name: FieldName, _ number: Int, _ value: inout Bool) {
        field(name, number, .bool)
    }

    mutating func choice(
        _ name: FieldName, _ number: Int, _ words: FieldWords, _ value: inout UInt32
    ) {
        // The names of an enumeration's values must be unique within the message that contains the
        // enumeration.
        var type: [UInt8] = []
        type.appendBlock(1, Array(words.name.utf8))
        for (index, word) in words.words.enumerated() {
            var value: [UInt8] = []
            value.appendBlock(1, Array("\(words.name)_\(word)".uppercased().utf8))
            value.appendNumber(2, index)
            type.appendBlock(2, value)
        }
        enumerations.appendBlock(4, type)
        field(name, number, .enumeration, typeName: words.name)
    }

    mutating func text(_ name: FieldName, _ number: Int, _ value: inout String) {
        field(name, number, .string)
    }

    mutating func block(_ name: FieldName, _ number: Int, _ value: inout [UInt8]) {
        field(name, number, .bytes)
    }
}
