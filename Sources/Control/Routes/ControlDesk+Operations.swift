import ControlAPI
import HTTP
import PhotoModel
import Store

/// Long work.
extension ControlDesk {
    func operations(_ request: Request) throws(Problem) -> Reply {
        let query = try Query(request, allowing: ["limit", "after"])
        return .json(
            list(try door.store.operations(limit: try query.limit(), after: query["after"])) { OperationBody($0) })
    }

    func operation(_ id: String, _ request: Request) throws(Problem) -> Reply {
        let query = try Query(request, allowing: ["limit", "after"])
        let operation = try door.orders.operation(try Self.operationNumber(id))
        let findings = try door.store.findings(of: operation.id, limit: try query.limit(), after: query["after"])
        return .json(OperationBody(operation, findings: findings.items, next: findings.next))
    }

    func orderOperation(_ request: Request) throws(Problem) -> Reply {
        let order = try decode(OperationRequest.self, from: request)
        guard let kind = Operation.Kind(rawValue: order.kind) else {
            throw .bad(
                "There is no operation `\(SafeText.of(order.kind, limit: 40))`.",
                todo: "Use " + Operation.Kind.allCases.map(\.rawValue).joined(separator: ", ") + ".")
        }
        return .json(OperationBody(try door.orders.order(kind, order.arguments)), status: 202)
    }

    func cancelOperation(_ id: String, _ request: Request) throws(Problem) -> Reply {
        .json(OperationBody(try door.orders.cancelOperation(try Self.operationNumber(id))))
    }

    private static func operationNumber(_ text: String) throws(Problem) -> Operation.ID {
        guard let number = Int64(text), String(number) == text else {
            throw .missing("There is no operation \(SafeText.of(text, limit: 64)).")
        }
        return number
    }
}
