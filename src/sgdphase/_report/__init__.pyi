from .explore import explorer_page as explorer_page
from .pages import diagnosis_page as diagnosis_page
from .pages import report as report
from .store import store_page as store_page
