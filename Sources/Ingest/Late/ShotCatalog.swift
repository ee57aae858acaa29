import PhotoModel
import Store

/// Where a late member looks for its shot: the catalog, or what it would be by then.
protocol ShotCatalog {
    func assets(withContentIdentifier identifier: String) throws(Problem) -> [Asset]
    func assets(ofShot place: Store.ShotPlace) throws(Problem) -> [Asset]
    func files(ofShot place: Store.ShotPlace) throws(Problem) -> [Path: [Asset]]
}

extension Store: ShotCatalog {}
