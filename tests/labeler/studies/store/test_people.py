from labeler.studies.store import access
from tests.making import NOW, id_of

AT = NOW.isoformat()


def test_secrets_whose_hashes_begin_alike_are_distinguished(study):
    ada, ben = id_of(study, "ada"), id_of(study, "ben")
    alike = "0123456789abcdef"
    for rest, person_id in (("0" * 48, ada), ("f" * 48, ben)):
        access.add_invitation(study, alike + rest, person_id, "1", "9")
        access.add_session(study, alike + rest, person_id, "1")
    for rest, person_id in (("0" * 48, ada), ("f" * 48, ben)):
        assert access.find_invitation(study, alike + rest).person_id == person_id
        assert access.person_of_session(study, alike + rest, "").person_id == person_id
    for hashed in (alike + "8" * 48, alike, "", "g" * 64):
        assert access.find_invitation(study, hashed) is None
        assert access.person_of_session(study, hashed, "") is None
