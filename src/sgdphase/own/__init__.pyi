from .problem import Own as Own
from .problem import forget as forget
from .problem import own_file as own_file
from .problem import own_functions as own_functions
from .user import UserTraining as UserTraining
from .user import user_training as user_training
