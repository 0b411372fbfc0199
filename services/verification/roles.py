"""Words for those who take part in what a document rules: the two sides of contracts, and others.

Words of one line mean the same party. The list holds words that name somebody by what he is in the
matter at hand, so that one in the place of another changes who is bound.
"""

from services.verification.words import Word

_SAME = """
    lender creditor
    borrower debtor obligor
    landlord lessor
    tenant lessee
    buyer purchaser
    seller vendor
    employer
    employee worker staff personnel
    issuer
    holder noteholder bondholder
    shareholder stockholder
    guarantor surety
    insurer underwriter
    insured policyholder
    claimant plaintiff
    defendant respondent
    appellant
    licensor
    licensee
    franchisor
    franchisee
    trustee
    beneficiary
    settlor
    supplier provider
    customer client
    contractor
    subcontractor
    principal
    agent
    controller
    processor
    patient
    physician doctor
    nurse
    pharmacist
    manufacturer producer
    importer
    exporter
    distributor
    retailer
    regulator
    auditor
    director
    chair chairman chairwoman chairperson
    secretary
    treasurer
    minister
    judge
    arbitrator
    prosecutor
    mortgagor
    mortgagee
    shipper consignor
    consignee
    carrier
    assignor transferor
    assignee transferee
    payer
    payee
    donor grantor
    donee grantee
    depositor
    subsidiary
    parent
    teacher
    student pupil
    parliament
    council
    commission
    board
    committee
    manager
    applicant
    owner
    operator
    passenger
    driver
"""
_ROLES = {word: line.split()[0] for line in _SAME.strip().splitlines() for word in line.split()}


def role(word: Word) -> str:
    """The party that a word names, by the first word of its line; "" where it names none.

    Stems do not tell: those of insurer and insured, or of employer and employee, are alike.
    """
    bare = word.text.lower().replace("\u2019", "'").removesuffix("'s").removesuffix("'")
    return _ROLES.get(bare) or _ROLES.get(bare.removesuffix("s"), "")
